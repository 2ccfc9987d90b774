"""What LiteLLM and genai-prices make of the uses on standard input, as US dollars; null where one has no price."""

import datetime
import json
import logging
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_LOG"] = "CRITICAL"
logging.disable(logging.CRITICAL)

import genai_prices  # noqa: E402
import litellm  # noqa: E402
from litellm.types.utils import Usage  # noqa: E402


litellm.suppress_debug_info = True


def by_litellm(case):
    use = case["use"]
    written = use["written"]
    details = {"cached_tokens": use["cached"], "audio_tokens": 0}
    if written:
        details["cache_creation_tokens"] = written
        details["cache_creation_token_details"] = {
            "ephemeral_5m_input_tokens": written - use["long"],
            "ephemeral_1h_input_tokens": use["long"],
        }
    usage = Usage(
        prompt_tokens=use["prompt"] + written,
        completion_tokens=use["completion"],
        total_tokens=use["prompt"] + written + use["completion"],
        prompt_tokens_details=details,
        cache_creation_input_tokens=written,
        cache_read_input_tokens=use["cached"],
    )
    parts = litellm.cost_per_token(
        model=case["litellm"],
        custom_llm_provider=case["litellm_provider"],
        usage_object=usage,
        service_tier=use["tier"] or None,
    )
    return sum(parts)


def by_genai(case):
    use = case["use"]
    usage = genai_prices.Usage(
        input_tokens=use["prompt"] + use["written"],
        cache_read_tokens=use["cached"],
        cache_write_tokens=use["written"],
        output_tokens=use["completion"],
    )
    at = datetime.datetime.fromisoformat(case["at"].replace("Z", "+00:00"))
    return float(
        genai_prices.calc_price(
            usage, case["model"], provider_id=case["genai_provider"], genai_request_timestamp=at
        ).total_price
    )


def attempt(make, case):
    try:
        return make(case)
    except Exception:
        return None


answers = [
    {
        "litellm": attempt(by_litellm, case),
        "genai": None if case["use"]["tier"] or case["use"]["long"] else attempt(by_genai, case),
    }
    for case in json.load(sys.stdin)
]
print()  # what libraries print stands above
print(json.dumps(answers))
