"""Steps that change variables, as functions of the variables' values: what compilers can be asked.

`experimental_get_compiler_ir` for a platform without a device takes no variables, since they would
have to be on it. So a traced step is made again with each operation on a variable replaced by what
it does to its value; all else in the graph stays as it was traced.
"""

import tensorflow as tf
from tensorflow.python.framework import function_def_to_graph, kernels


def _adam(op, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    if op.get_attr("use_nesterov"):
        raise NotImplementedError("ResourceApplyAdam with use_nesterov")
    m += (grad - m) * (1 - beta1)
    v += (tf.square(grad) - v) * (1 - beta2)
    rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    return [], [var - rate * m / (tf.sqrt(v) + epsilon), m, v]


_ON_VARIABLES = {
    "ReadVariableOp": lambda op, var: ([var], [var]),
    "VariableShape": lambda op, var: ([tf.shape(var, op.get_attr("out_type"))], [var]),
    "AssignVariableOp": lambda op, var, value: ([], [value]),
    "AssignAddVariableOp": lambda op, var, value: ([], [var + value]),
    "AssignSubVariableOp": lambda op, var, value: ([], [var - value]),
    "ResourceGather": lambda op, var, indices: (
        [tf.gather(var, indices, batch_dims=op.get_attr("batch_dims"))],
        [var],
    ),
    "ResourceScatterAdd": lambda op, var, indices, updates: (
        [],
        [tf.tensor_scatter_nd_add(var, tf.expand_dims(indices, -1), updates)],
    ),
    "ResourceApplyAdam": _adam,
}
"""Type of an operation -> function of it and its inputs, values where it has variables: the outputs
and the new values."""


class Step:
    """A traced function whose variables are arguments.

    Args:
        function: of tensors, which may read and assign variables that exist.
        *arguments: TensorSpecs of what it takes, nested like that.

    Attributes:
        handles: of the variables, in the order of `call`'s values.
        operations: types of the operations on variables that were replaced.

    Raises:
        NotImplementedError: when called, for an operation on variables that is not known here.
    """

    def __init__(self, function, *arguments):
        # Where XLA compiles, gradients of tf.cond and some layers are others than elsewhere.
        traced = tf.function(function, autograph=False, jit_compile=True)
        self._traced = traced.get_concrete_function(*arguments)
        captured = self._traced.captured_inputs
        self.handles = [each for each in captured if each.dtype == tf.resource]
        self._others = [each for each in captured if each.dtype != tf.resource]
        self._of_variable = [each.dtype == tf.resource for each in captured]
        self.operations = set()
        self._called = {}  # a function that nobody holds is forgotten by TensorFlow

    def values(self):
        """What the variables have now, a tensor for each."""
        return [
            tf.raw_ops.ReadVariableOp(resource=handle, dtype=_dtype(handle))
            for handle in self.handles
        ]

    def call(self, arguments, values):
        """The function's outputs, flat, and the values of the variables after it.

        Args:
            arguments: tensors, nested as they were traced.
            values: a tensor for each of `handles`.
        """
        values, others = iter(values), iter(self._others)
        captured = [next(values if of_one else others) for of_one in self._of_variable]
        graph = self._traced.graph
        inputs = [*tf.nest.flatten(arguments, expand_composites=True), *captured]
        outputs, after = self._run(graph, graph.inputs, graph.outputs, inputs)
        return outputs, after

    def _run(self, graph, parameters, results, inputs):
        """A graph's results for some inputs, and the values of its variables after it."""
        inputs = [tf.identity(each) for each in inputs]  # in the graph that is being traced
        definition = graph.as_graph_def()
        nodes = {node.name: node for node in definition.node}
        values = {}  # tensor of a variable -> name of the tensor of its value
        for parameter, value in zip(parameters, inputs, strict=True):
            if parameter.dtype == tf.resource:
                values[parameter.name] = (parameter.name, value.dtype)
        for op in graph.get_operations():
            of_variables = [each.name for each in op.inputs if each.dtype == tf.resource]
            if of_variables:
                self._replace(op, nodes[op.name], of_variables, values, definition.library)
        given = {
            parameter.op.name: value for parameter, value in zip(parameters, inputs, strict=True)
        }
        kept = tf.compat.v1.GraphDef(library=definition.library, versions=definition.versions)
        kept.node.extend(node for node in definition.node if node.name not in given)
        for node in kept.node:
            node.attr.pop("_class", None)  # beside which variable it is
            node.device = ""
        read = {name.removesuffix(":0") for node in kept.node for name in node.input}
        input_map = {name: value for name, value in given.items() if name in read}
        names = [each.name for each in results]
        names += [values[each.name][0] for each in parameters if each.dtype == tf.resource]
        made = [name for name in names if name.removesuffix(":0") not in given]
        found = dict(
            zip(
                made,
                tf.graph_util.import_graph_def(kept, input_map, made, name="step"),
                strict=True,
            )
        )
        found = [found[name] if name in found else given[name.removesuffix(":0")] for name in names]
        return found[: len(results)], found[len(results) :]

    def _replace(self, op, node, of_variables, values, library):
        """Makes a node a call of what the operation does to values."""
        specs, names = [], []
        for each in op.inputs:
            name, dtype = values.get(each.name, (each.name, each.dtype))
            specs.append(tf.TensorSpec(None, dtype))
            names.append(name)

        called = self._on_values(op, specs)
        library.MergeFrom(called.graph.as_graph_def().library)
        library.function.append(called.function_def)
        node.op = "PartitionedCall"
        controls = [name for name in node.input if name.startswith("^")]
        node.ClearField("input")
        node.input.extend([*names, *controls])
        node.ClearField("attr")
        node.attr["Tin"].list.type.extend(spec.dtype.as_datatype_enum for spec in specs)
        node.attr["Tout"].list.type.extend(each.dtype.as_datatype_enum for each in called.outputs)
        node.attr["f"].func.name = called.function_def.signature.name
        for number, name in enumerate(of_variables, start=len(op.outputs)):
            values[name] = (f"{op.name}:{number}", values[name][1])

    def _on_values(self, op, specs):
        """A traced function of what an operation does to values.

        Those of _ON_VARIABLES differ by their attributes and dtypes only: one for all of a kind.
        """
        kind = object()  # of its own
        if op.type in _ON_VARIABLES:
            attributes = op.node_def.attr
            of_its_own = [name for name in sorted(attributes) if not name.startswith("_")]
            kind = str((op.type, specs, [(name, attributes[name]) for name in of_its_own]))
        if kind not in self._called:

            def on_values(*inputs):
                outputs, after = self._function(op)(op, *inputs)
                return [*outputs, *after]

            function = tf.function(on_values, autograph=False)
            self._called[kind] = function.get_concrete_function(*specs)
        elif op.type in _ON_VARIABLES:
            self.operations.add(op.type)
        return self._called[kind]

    def _function(self, op):
        """What an operation does, as in _ON_VARIABLES."""
        if op.type in ("PartitionedCall", "StatefulPartitionedCall"):
            return lambda op, *inputs: self._body(op, "f", inputs)
        if op.type in ("If", "StatelessIf"):
            return self._branch
        if op.type not in _ON_VARIABLES:
            raise NotImplementedError(f"operation {op.type} on a variable, {op.name}")
        self.operations.add(op.type)
        return _ON_VARIABLES[op.type]

    def _body(self, op, attribute, inputs):
        name = op.get_attr(attribute).name
        definition = op.graph._get_function(name).cached_definition
        body = function_def_to_graph.function_def_to_graph(definition)
        return self._run(body, body.inputs, body.outputs, inputs)

    def _branch(self, op, condition, *inputs):
        def branch(attribute):
            outputs, after = self._body(op, attribute, inputs)
            return [*outputs, *after]

        if condition.dtype != tf.bool:
            condition = tf.cast(condition, tf.bool)
        found = tf.cond(condition, lambda: branch("then_branch"), lambda: branch("else_branch"))
        return found[: len(op.outputs)], found[len(op.outputs) :]


def has_kernel(operation: str, device_type: str) -> bool:
    """Whether TensorFlow has a kernel of an operation for a type of device."""
    registered = kernels.get_registered_kernels_for_op(operation).kernel
    return any(kernel.device_type == device_type for kernel in registered)


def _dtype(handle):
    """Of the values of a variable."""
    (of_value,) = handle._handle_data.shape_and_type
    return tf.as_dtype(of_value.dtype)
