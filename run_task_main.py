"""Command line of mate-tf: `python run_task_main.py --help`.

The same program as the installed command `mate-tf`.
"""

from mate_tf.cli import main

if __name__ == "__main__":
    main.run()
