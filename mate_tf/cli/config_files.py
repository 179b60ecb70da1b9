"""The task that a command is for, before anything of it is loaded. Imports no TensorFlow."""

from mate_tf.files.config_files import find_config, with_bases

__all__ = ["find_config", "task_name"]


def task_name(flags) -> str:
    """Returns the task of --task or --config_file, in upper case; "" if neither has one.

    A file that cannot be read also gives "". The error is raised later, when the whole file is
    read.
    """
    name = flags.task
    if not name and flags.config_file:
        import yaml  # takes a tenth of a second, which most commands need not

        def read(path):
            with open(path, encoding="utf-8") as file:
                return yaml.safe_load(file) or {}

        try:
            chain = with_bases(find_config(flags.config_file), read)
            sections = [given.get("task") for given, _ in chain]
            name = [each["name"] for each in sections if each and "name" in each][-1]
        except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
            return ""
        except (AttributeError, IndexError, TypeError):  # of another form
            return ""
    return str(name or "").upper()
