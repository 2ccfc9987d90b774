import { expect } from 'chai';
import { type ChatQuestion, chatViaOf, withoutRefusedEffort } from '../../host/pipeline/chat-via.ts';
import { type ChatRequest, EFFORTS, type ModelFacts, nearestEffort } from '../../host/contract/index.ts';

type Json = Record<string, any>;

const TOOL = { type: 'function', function: { name: 'look', parameters: {} } };
const SEALED = { type: 'reasoning.encrypted', format: 'openai-responses-v1', index: 0, data: 'gAAA' };
const said = (...details: object[]): Json => ({ role: 'assistant', content: 'ok', reasoning_details: details });

interface Asking {
  readonly facts?: ModelFacts;
  readonly more?: Json;
  readonly turns?: readonly Json[];
  readonly wantsThoughts?: boolean;
  readonly chatVia?: string | undefined;
  readonly egress?: 'automatic' | 'by hand' | 'none' | 'native';
}

const translate = { toUpstream: () => ({ path: '/' }), fromUpstream: () => ({}) };

function question({
  facts = {},
  more,
  turns = [],
  wantsThoughts = false,
  chatVia,
  egress = 'automatic',
}: Asking): ChatQuestion {
  const chat = {
    ...translate,
    ...(egress !== 'none' && { viaResponses: { ...translate, isAutomatic: egress !== 'by hand' } }),
  };
  return {
    target: { config: { virtual_key: 'p', chat_via: chatVia } },
    provider: {
      module: { name: 'p', translators: { chat }, chatTraits: { wire: egress === 'native' ? 'native' : 'common' } },
      ref: { kind: 'provider', name: 'p' },
    } as never,
    model: 'm',
    facts,
    request: { model: 'm', messages: [{ role: 'user', content: 'hi' }, ...turns], ...more } as unknown as ChatRequest,
    wantsThoughts: () => wantsThoughts,
  };
}

const via = (asking: Asking): string => chatViaOf(question(asking)).via;

/** The rows of OpenAI's models. See docs/catalog.md#which-api-an-attempt-uses. */
const GPT_5_4: ModelFacts = { efforts: ['none', 'low', 'medium', 'high', 'xhigh'], chat_tools: 'absent_or_none' };
const GPT_5_6: ModelFacts = { efforts: ['none', 'low', 'medium', 'high', 'xhigh'], chat_tools: 'none_only' };
const ASTRA: ModelFacts = { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], chat_tools: 'never' };
const OLD: ModelFacts = { efforts: [], chat_tools: 'any' };

describe('the API that an attempt uses', () => {
  const tools = { tools: [TOOL] };
  const ROWS: Readonly<Record<string, readonly [asking: Asking, via: 'chat' | 'responses']>> = {
    'gpt-5.6 with tools alone': [{ facts: GPT_5_6, more: tools }, 'responses'],
    'gpt-5.6 with tools and low': [{ facts: GPT_5_6, more: { ...tools, reasoning_effort: 'low' } }, 'responses'],
    'gpt-5.6 with tools and max, which is bounded': [
      { facts: GPT_5_6, more: { ...tools, reasoning_effort: 'max' } },
      'responses',
    ],
    'gpt-5.6 with tools and an explicit none': [
      { facts: GPT_5_6, more: { ...tools, reasoning_effort: 'none' } },
      'chat',
    ],
    'gpt-5.6 with an empty list of tools': [{ facts: GPT_5_6, more: { tools: [], reasoning_effort: 'low' } }, 'chat'],
    'gpt-5.6 without tools': [{ facts: GPT_5_6, more: { reasoning_effort: 'high' } }, 'chat'],
    'gpt-5.4 with tools alone': [{ facts: GPT_5_4, more: tools }, 'chat'],
    'gpt-5.4 with tools and high': [{ facts: GPT_5_4, more: { ...tools, reasoning_effort: 'high' } }, 'responses'],
    'gpt-5.4 with tools and high as a member': [
      { facts: GPT_5_4, more: { ...tools, reasoning: { effort: 'high' } } },
      'responses',
    ],
    'gpt-6-astra with tools and none, which it does not have': [
      { facts: ASTRA, more: { ...tools, reasoning_effort: 'none' } },
      'responses',
    ],
    'an old model with tools': [{ facts: OLD, more: tools }, 'chat'],
    'a model that no rule knows, with tools': [{ more: tools }, 'chat'],
    'a model that no rule knows, with a tool of the vendor': [{ more: { tools: [{ type: 'web_search' }] } }, 'chat'],
    'a model of Responses alone': [{ facts: { endpoints: ['responses'] } }, 'responses'],
    'a model of chat alone, with a tool of the vendor': [
      { facts: { endpoints: ['chat'], efforts: ['low'] }, more: { tools: [{ type: 'web_search' }] } },
      'chat',
    ],
    'a model of both': [{ facts: { endpoints: ['chat', 'responses'] } }, 'chat'],
    'thoughts that are to be shown': [{ facts: GPT_5_4, wantsThoughts: true }, 'responses'],
    'thoughts that are to be shown of a model that has none': [{ facts: OLD, wantsThoughts: true }, 'chat'],
    'thoughts that this provider sealed': [{ facts: GPT_5_4, turns: [said({ ...SEALED, origin: 'p' })] }, 'responses'],
    'thoughts that say no provider': [{ facts: GPT_5_4, turns: [said(SEALED)] }, 'responses'],
    'thoughts that another provider sealed': [{ facts: GPT_5_4, turns: [said({ ...SEALED, origin: 'q' })] }, 'chat'],
    'the phase of a message alone': [
      { facts: GPT_5_4, turns: [said({ ...SEALED, type: 'reasoning.phase', data: undefined, phase: 'x' })] },
      'chat',
    ],
    'a tool of the vendor': [{ facts: OLD, more: { tools: [{ type: 'web_search' }] } }, 'responses'],
    'a custom tool': [{ facts: OLD, more: { tools: [{ type: 'custom', custom: { name: 'c' } }] } }, 'chat'],
    'a search': [{ facts: OLD, more: { web_search_options: {} } }, 'responses'],
    'a search of a model that searches on chat': [
      { facts: { ...OLD, chat_search: true }, more: { web_search_options: {} } },
      'chat',
    ],
    'a recording, where thoughts are to be shown': [
      {
        facts: GPT_5_4,
        wantsThoughts: true,
        turns: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }],
      },
      'chat',
    ],
    'a recording, where tools are refused on chat': [
      { facts: GPT_5_6, more: tools, turns: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
      'responses',
    ],
    ...Object.fromEntries(
      [
        { modalities: ['text', 'audio'] },
        { audio: { voice: 'v' } },
        { n: 2 },
        { prediction: { type: 'content', content: 'x' } },
        { functions: [{ name: 'f' }] },
        { function_call: 'auto' },
      ].map((more) => [
        `${Object.keys(more)[0]}, where thoughts are to be shown`,
        [{ facts: GPT_5_4, wantsThoughts: true, more }, 'chat'] as const,
      ]),
    ),
    'one choice, where thoughts are to be shown': [
      { facts: GPT_5_4, wantsThoughts: true, more: { n: 1, modalities: ['text'], functions: [] } },
      'responses',
    ],
  };
  for (const [what, [asking, wanted]] of Object.entries(ROWS))
    it(`is ${wanted} for ${what}`, () => {
      expect(via(asking)).to.equal(wanted);
      expect(via({ ...asking, chatVia: 'auto' }), 'auto is the default').to.equal(wanted);
      for (const word of ['chat', 'responses'])
        expect(via({ ...asking, chatVia: word }), 'what is configured counts first').to.equal(word);
      expect(via({ ...asking, egress: 'by hand' }), 'rules do not choose').to.equal('chat');
      for (const egress of ['none', 'native'] as const)
        expect(via({ ...asking, egress, chatVia: 'responses' }), 'there is one API').to.equal('chat');
    });

  it('is decided by the first row that holds', () => {
    let responses = 0;
    for (const asking of everyAsking()) {
      const wanted = byTheTable(asking);
      if (wanted === 'responses') responses += 1;
      expect(via(asking), JSON.stringify(asking)).to.equal(wanted);
    }
    expect(responses).to.be.greaterThan(1000);
  });
});

function* everyAsking(): Generator<Asking> {
  const facts: ModelFacts[] = [undefined, 'any', 'absent_or_none', 'none_only', 'never'].flatMap((takes) =>
    [undefined, [], ['none', 'low', 'high'], ['low', 'high']].flatMap((efforts) =>
      [undefined, ['chat'], ['responses'], ['chat', 'responses']].map(
        (endpoints) =>
          ({
            ...(takes && { chat_tools: takes }),
            ...(efforts && { efforts }),
            ...(endpoints && { endpoints }),
          }) as ModelFacts,
      ),
    ),
  );
  for (const each of facts)
    for (const tools of [undefined, [TOOL], [{ type: 'web_search' }]])
      for (const effort of [undefined, ...EFFORTS, 'unheard'])
        for (const n of [1, 2])
          for (const wantsThoughts of [false, true])
            yield {
              facts: each,
              more: { ...(tools && { tools }), ...(effort && { reasoning_effort: effort }), n },
              wantsThoughts,
            };
}

/** The table of the page, row by row. */
function byTheTable({ facts = {}, more = {}, wantsThoughts = false }: Asking): 'chat' | 'responses' {
  const { endpoints = [], chat_tools: takes, efforts } = facts;
  if (endpoints.length === 1) return endpoints[0] as 'chat' | 'responses';
  const asked = more['reasoning_effort'] as string | undefined;
  const effort = asked === undefined ? undefined : nearestEffort(asked, efforts).effort;
  const refuses =
    takes === 'never' ||
    (takes === 'none_only' && effort !== 'none') ||
    (takes === 'absent_or_none' && effort !== undefined && effort !== 'none');
  if (more['tools'] && refuses) return 'responses';
  if (more['n'] > 1) return 'chat';
  const isKnown = Object.keys(facts).length > 0;
  const isOfVendor = more['tools']?.[0].type === 'web_search';
  return (wantsThoughts && (efforts?.length ?? 0) > 0) || (isKnown && isOfVendor) ? 'responses' : 'chat';
}

describe('a model that takes no tools on chat with the effort asked for, where chat is configured', () => {
  const sent = (facts: ModelFacts, more: object): [effort: unknown, lost: readonly string[]] => {
    const { request, lost } = withoutRefusedEffort(
      question({ facts, more: { tools: [TOOL], ...more } }).request,
      facts,
    );
    return [request['reasoning_effort'], lost];
  };

  it('gets none, or no effort, and the effort is lost', () => {
    expect(sent(GPT_5_6, { reasoning_effort: 'high' })).to.deep.equal(['none', ['reasoning_effort']]);
    expect(sent(GPT_5_6, {})).to.deep.equal(['none', []]);
    expect(sent(GPT_5_6, { reasoning_effort: 'none' })).to.deep.equal(['none', []]);
    expect(sent(GPT_5_4, { reasoning_effort: 'high' })).to.deep.equal([undefined, ['reasoning_effort']]);
    expect(sent(GPT_5_4, {})).to.deep.equal([undefined, []]);
    expect(sent(ASTRA, { reasoning_effort: 'high' })).to.deep.equal(['high', []]);
    expect(sent(OLD, { reasoning_effort: 'high' })).to.deep.equal(['high', []]);
    expect(sent(GPT_5_6, { tools: [], reasoning_effort: 'high' })).to.deep.equal(['high', []]);
  });
});
