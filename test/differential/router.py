"""Asks LiteLLM's own router which deployments serve each name: nothing is called, and no network is asked."""
import collections
import json
import logging
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
logging.disable(logging.CRITICAL)

import litellm  # noqa: E402

DRAWS = 400
question = json.load(sys.stdin)
router = litellm.Router(
    model_list=question["model_list"], model_group_alias=question["model_group_alias"], routing_groups=question["routing_groups"]
)
answers = {}
for name in question["names"]:
    drawn = collections.Counter()
    for _ in range(DRAWS):
        deployment = router.get_available_deployment(model=name, messages=[{"role": "user", "content": "hello"}])
        params = deployment["litellm_params"]
        drawn[json.dumps([params["model"], params.get("api_base") or ""])] += 1
    answers[name] = [[*json.loads(place), count / DRAWS] for place, count in drawn.items()]
print(json.dumps(answers))
