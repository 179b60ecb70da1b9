/* Asks a SavedModel of mate-tf through TensorFlow's C API alone.

   client SAVED_MODEL question=OP:0 header=OP:0 cells=OP:0 NAME=OP:INDEX... < request

   OP:INDEX are the tensors that `saved_model_cli show --all` lists for the signature
   serving_default: three inputs, then the outputs to print. The request has the question in its
   first line, the names of the columns in the second and a row of the table in each other line,
   separated by tabs. Each output is printed as a line: its name, then its values, after tabs. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

enum { MAX_OUTPUTS = 16, MAX_TEXT = 1 << 20, NUM_INPUTS = 3 };

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void check(TF_Status *status, const char *what) {
  if (TF_GetCode(status) != TF_OK) fail(what, TF_Message(status));
}

/* A tensor of the texts between separators; the last dimension is how many there are. */
static TF_Tensor *strings(const char **texts, const int64_t *dims, int num_dims) {
  int64_t count = 1;
  for (int i = 0; i < num_dims; ++i) count *= dims[i];
  TF_Tensor *tensor = TF_AllocateTensor(TF_STRING, dims, num_dims, count * sizeof(TF_TString));
  TF_TString *data = TF_TensorData(tensor);
  for (int64_t i = 0; i < count; ++i) {
    TF_StringInit(&data[i]);
    TF_StringCopy(&data[i], texts[i], strlen(texts[i]));
  }
  return tensor;
}

/* Cuts a line at its tabs, in place; the number of its fields. */
static int64_t split(char *line, const char **fields) {
  int64_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *tab = line; tab != NULL; line = tab + 1) {
    tab = strchr(line, '\t');
    if (tab != NULL) *tab = '\0';
    fields[count++] = line;
  }
  return count;
}

static void read_request(TF_Tensor **inputs) {
  static char text[MAX_TEXT];
  static const char *fields[MAX_TEXT];
  size_t length = fread(text, 1, MAX_TEXT - 1, stdin);
  if (length == 0 || text[length - 1] != '\n') fail("request", "empty, or without a last line end");
  int64_t num_columns = 0, num_lines = 0, num_fields = 0;
  for (char *line = text, *end; *line != '\0'; line = end) {
    end = strchr(line, '\n');
    *end++ = '\0';
    if (num_lines == 0) {
      fields[num_fields++] = line;
    } else {
      int64_t found = split(line, fields + num_fields);
      if (num_lines == 1) num_columns = found;
      if (found != num_columns) fail("request", "rows of different lengths");
      num_fields += found;
    }
    ++num_lines;
  }
  if (num_lines < 2) fail("request", "no header");
  int64_t dims[] = {1, num_lines - 2, num_columns}, header[] = {1, num_columns};
  inputs[0] = strings(fields, dims, 1);
  inputs[1] = strings(fields + 1, header, 2);
  inputs[2] = strings(fields + 1 + num_columns, dims, 3);
}

/* The tensor of an argument NAME=OP:INDEX; cuts the argument after its name. */
static TF_Output tensor_named(TF_Graph *graph, char *argument) {
  char *name = strchr(argument, '='), *index = strrchr(argument, ':');
  if (name == NULL || index == NULL) fail(argument, "not NAME=OP:INDEX");
  *name++ = *index++ = '\0';
  TF_Output output = {TF_GraphOperationByName(graph, name), atoi(index)};
  if (output.oper == NULL) fail(name, "no such operation");
  return output;
}

static void print(const char *name, TF_Tensor *tensor) {
  const void *data = TF_TensorData(tensor);
  printf("%s", name);
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) {
    switch (TF_TensorType(tensor)) {
      case TF_STRING: {
        const TF_TString *text = (const TF_TString *)data + i;
        printf("\t%.*s", (int)TF_StringGetSize(text), TF_StringGetDataPointer(text));
        break;
      }
      case TF_INT32: printf("\t%d", ((const int32_t *)data)[i]); break;
      case TF_FLOAT: printf("\t%.9g", ((const float *)data)[i]); break;
      case TF_DOUBLE: printf("\t%.17g", ((const double *)data)[i]); break;
      default: fail(name, "of a type that is not printed");
    }
  }
  printf("\n");
}

int main(int argc, char **argv) {
  int num_outputs = argc - 2 - NUM_INPUTS;
  if (num_outputs < 1 || num_outputs > MAX_OUTPUTS) fail("arguments", "see the head of client.c");
  TF_Status *status = TF_NewStatus();
  TF_Graph *graph = TF_NewGraph();
  TF_SessionOptions *options = TF_NewSessionOptions();
  const char *tags[] = {"serve"};
  TF_Session *session =
      TF_LoadSessionFromSavedModel(options, NULL, argv[1], tags, 1, graph, NULL, status);
  check(status, argv[1]);

  TF_Output inputs[NUM_INPUTS], outputs[MAX_OUTPUTS];
  TF_Tensor *given[NUM_INPUTS], *found[MAX_OUTPUTS];
  for (int i = 0; i < NUM_INPUTS; ++i) inputs[i] = tensor_named(graph, argv[2 + i]);
  for (int i = 0; i < num_outputs; ++i)
    outputs[i] = tensor_named(graph, argv[2 + NUM_INPUTS + i]);
  read_request(given);
  TF_SessionRun(session, NULL, inputs, given, NUM_INPUTS, outputs, found, num_outputs, NULL, 0,
                NULL, status);
  check(status, "request");

  for (int i = 0; i < num_outputs; ++i) {
    print(argv[2 + NUM_INPUTS + i], found[i]);
    TF_DeleteTensor(found[i]);
  }
  for (int i = 0; i < NUM_INPUTS; ++i) TF_DeleteTensor(given[i]);
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
