"""Start the worker's half of an adapter: ``python run_worker.py MODULE PROFILE``."""

import importlib
import sys

if __name__ == "__main__":
    # imported by its full name, so that peers that look handlers up by module path find this one
    importlib.import_module(sys.argv[1]).main(sys.argv[2])
