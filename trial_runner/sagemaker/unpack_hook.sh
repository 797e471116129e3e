# SPDX-License-Identifier: Apache-2.0
# Unpacks the Python hook from the job's hyperparameters, where carried_hook.cpp stored it. Writes the hook to the folder
# $steptune_hook in the job's container, and adds this folder to PYTHONPATH. A POSIX shell reads this script.
# $steptune_python names the preferred Python interpreter, which need not exist. Comments are not sent to the job.
steptune_hook=${TMPDIR:-/tmp}/steptune-hook-$$
steptune_unpack='
import base64, json, os, sys, zlib
config = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/input/config/hyperparameters.json"
found = json.load(open(config))
packed = "".join(found.pop(name) for name in sorted(found) if name.startswith("steptune-hook-"))
files = json.loads(zlib.decompress(base64.b64decode(packed)))
places = {os.path.join(sys.argv[1], name): text for name, text in files.items()}
for place in places: os.makedirs(os.path.dirname(place), exist_ok=True)
for place, text in places.items(): open(place, "w", encoding="utf-8").write(text)
rest = json.dumps(found)
if os.access(config, os.W_OK): open(config, "w").write(rest)
else: print("steptune: " + config + " cannot be written: the program finds steptune-hook-... in it")
'
for steptune_try in "$steptune_python" python3 python ''; do
[ -n "$steptune_try" ] && command -v "$steptune_try" >/dev/null 2>&1 && "$steptune_try" -c "$steptune_unpack" "$steptune_hook" && break
done
[ -n "$steptune_try" ] || echo "steptune: no Python here can unpack the hook: the program runs without it"
export PYTHONPATH="$steptune_hook${PYTHONPATH:+:$PYTHONPATH}"
