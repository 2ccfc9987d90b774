import type { ChatReply, UnaryReply } from 'gw/contract';
import { objectOf } from 'gw/common-wire';
import { isSuccess, outputTexts, usageOf } from './predictions.ts';

/** The one choice of a prediction that succeeded. */
export function fromUpstream(reply: UnaryReply): ChatReply {
  const prediction = objectOf(reply);
  if (!isSuccess(prediction)) throw new Error('the prediction did not succeed');
  const { id } = prediction;
  const usage = usageOf(prediction);
  return {
    ...(typeof id === 'string' && { id }),
    choices: [
      { index: 0, message: { role: 'assistant', content: outputTexts(prediction).join('') }, finish_reason: 'stop' },
    ],
    ...(usage && { usage }),
  };
}
