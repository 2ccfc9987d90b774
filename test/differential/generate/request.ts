import type { Dice } from '../../kit/index.ts';
import { talkOf, words } from './messages.ts';
import { printed, typeOf } from './schemas.ts';

/** A chat request as a client sends it, without its model. */
export type Body = Record<string, any>;

const rarely = (dice: Dice, one: number, make: () => Body): Body => (dice.below(one) === 0 ? make() : {});

/** Every parameter now and then, so that most requests hold a few. */
export function requestOf(dice: Dice): Body {
  const { messages, called } = talkOf(dice);
  return {
    messages,
    ...samplingOf(dice),
    ...toolsOf(dice, called),
    ...formatOf(dice),
    ...thinkingOf(dice),
    ...othersOf(dice),
  };
}

function samplingOf(dice: Dice): Body {
  return {
    ...rarely(dice, 6, () => ({ temperature: dice.pick([0, 0.7, 1, 1.4, 2]) })),
    ...rarely(dice, 6, () => ({ top_p: dice.pick([0, 0.5, 1]) })),
    ...rarely(dice, 5, () => ({ [dice.pick(['max_tokens', 'max_completion_tokens'])]: dice.pick([1, 64, 4000]) })),
    ...rarely(dice, 10, () => ({ stop: dice.pick(['END', ['END', '\n\n'], ['END', ' '], []]) })),
    ...rarely(dice, 12, () => ({ seed: dice.pick([0, 7, -3]) })),
    ...rarely(dice, 12, () => ({ presence_penalty: dice.pick([0, 0.5, -2]) })),
    ...rarely(dice, 12, () => ({ frequency_penalty: dice.pick([0, 0.5, -2]) })),
    ...rarely(dice, 14, () => ({ n: 1 })),
    ...rarely(dice, 14, () => ({ top_k: 40 })),
    ...rarely(dice, 16, () => ({ logprobs: dice.pick([true, false]) })),
    ...rarely(dice, 16, () => ({ logprobs: true, top_logprobs: 2 })),
    ...rarely(dice, 16, () => ({ logit_bias: { 50256: -100 } })),
  };
}

function toolsOf(dice: Dice, called: readonly string[]): Body {
  const isGiven = called.length > 0 ? dice.below(8) !== 0 : dice.below(4) === 0;
  if (!isGiven) return rarely(dice, 25, () => ({ tool_choice: 'none' }));
  const names = new Set([
    ...called,
    ...(called.length === 0 || dice.below(3) === 0 ? [dice.pick(['tide', 'wind', 'set_light'])] : []),
  ]);
  const tools = [...names].map((name) => toolOf(dice, name));
  return {
    tools,
    ...rarely(dice, 3, () => ({
      tool_choice: dice.pick(['auto', 'none', 'required', { type: 'function', function: { name: [...names][0] } }]),
    })),
    ...rarely(dice, 5, () => ({ parallel_tool_calls: dice.pick([true, false]) })),
  };
}

function toolOf(dice: Dice, name: string): Body {
  const parameters = printed(typeOf(dice), dice.pick(['zod', 'pydantic', 'typebox']));
  return {
    type: 'function',
    function: {
      name,
      ...(dice.below(5) !== 0 && { description: words(dice) }),
      ...(dice.below(10) !== 0 && { parameters }),
      ...rarely(dice, 8, () => ({ strict: dice.pick([true, false]) })),
      ...rarely(dice, 30, () => ({ cache_control: { type: 'ephemeral' } })),
    },
    ...rarely(dice, 20, () => ({ cache_control: { type: 'ephemeral' } })),
  };
}

function formatOf(dice: Dice): Body {
  return rarely(dice, 7, () => ({
    response_format: dice.pick([
      { type: 'text' },
      { type: 'json_object' },
      {
        type: 'json_schema',
        json_schema: {
          name: 'answer',
          schema: printed(typeOf(dice), dice.pick(['zod', 'pydantic', 'typebox'])),
          ...rarely(dice, 2, () => ({ strict: true })),
        },
      },
    ]),
  }));
}

function thinkingOf(dice: Dice): Body {
  return rarely(dice, 7, () =>
    dice.pick([
      { reasoning_effort: dice.pick(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']) },
      { thinking: { type: 'enabled', budget_tokens: dice.pick([1024, 2000]) } },
      { thinking: { type: 'disabled' } },
    ]),
  );
}

function othersOf(dice: Dice): Body {
  return {
    ...rarely(dice, 3, () => ({ stream: true })),
    ...rarely(dice, 14, () => ({ user: 'mate-7' })),
    ...rarely(dice, 20, () => ({ metadata: { berth: '7' } })),
    ...rarely(dice, 20, () => ({ store: false })),
    ...rarely(dice, 20, () => ({ service_tier: dice.pick(['auto', 'default']) })),
    ...rarely(dice, 25, () => ({ verbosity: 'low' })),
    ...rarely(dice, 25, () => ({ web_search_options: {} })),
  };
}
