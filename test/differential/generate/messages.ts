import type { Dice } from '../../kit/index.ts';

export type Message = Record<string, any>;

const WORDS = ['tide', 'a harbour', 'ø', '水', '🌊', '"', '\\', '{', '<b>', 'line\nbreak', 'null', '7'];
const BLANKS = ['', ' ', '\n', '\t \n'];

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4\n%%EOF').toString('base64');
const WAV = Buffer.from('RIFF$   WAVEfmt ').toString('base64');

export const words = (dice: Dice): string =>
  Array.from({ length: 1 + dice.below(3) }, () => dice.pick(WORDS)).join(' ');

/** Now and then nothing, or only white space, or white space at the end. */
export function textOf(dice: Dice): string {
  const turn = dice.below(12);
  if (turn === 0) return dice.pick(BLANKS);
  return turn === 1 ? `${words(dice)} \n` : words(dice);
}

const marked = (dice: Dice, part: Message): Message =>
  dice.below(14) === 0 ? { ...part, cache_control: { type: 'ephemeral' } } : part;

function partOf(dice: Dice): Message {
  switch (dice.below(9)) {
    case 0:
      return { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
    case 1:
      return {
        type: 'image_url',
        image_url: {
          url: 'https://images.example/quay.png',
          ...(dice.below(2) === 0 && { detail: dice.pick(['low', 'high', 'auto']) }),
        },
      };
    case 2:
      return { type: 'file', file: { filename: 'tides.pdf', file_data: `data:application/pdf;base64,${PDF}` } };
    case 3:
      return dice.below(3) === 0
        ? { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }
        : { type: 'text', text: textOf(dice) };
    default:
      return { type: 'text', text: textOf(dice) };
  }
}

function userTurn(dice: Dice): Message {
  const content =
    dice.below(2) === 0 ? textOf(dice) : Array.from({ length: 1 + dice.below(3) }, () => marked(dice, partOf(dice)));
  return {
    role: 'user',
    content,
    ...(dice.below(12) === 0 && { name: 'mate' }),
    ...(dice.below(20) === 0 && { cache_control: { type: 'ephemeral' } }),
  };
}

function systemTurn(dice: Dice): Message {
  const text = textOf(dice);
  return {
    role: dice.pick(['system', 'system', 'developer']),
    content: dice.below(4) === 0 ? [marked(dice, { type: 'text', text })] : text,
  };
}

/** Ids as this gateway's vendors and other gateways give them: some are too long, too short, or of characters that others refuse. */
const IDS: readonly ((at: number) => string)[] = [
  (at) => `call_${at}aZ9`,
  (at) => `toolu_01${at}`,
  (at) => `call_0_${at}`,
  (at) => `functions.tide:${at}`,
  (at) => `chatcmpl-tool-${at}-3f1c`,
  (at) => `call|fc_${at}`,
  (at) => `c${at}`,
  (at) => `D681Pe${String(at).padStart(3, '0')}`,
  (at) => `very-long-${'x'.repeat(70)}-${at}`,
  (at) => `id with space ${at}`,
];

const ARGUMENTS = [
  '{}',
  '',
  '{"harbour":"Brest"}',
  '{"hours":12,"deep":{"list":[1,null,"é"]}}',
  '{"n":12345678901234567890}',
];
const RESULTS = ['calm', '{"wind":7}', '[1,2]', '7', 'null', ''];

export interface Talk {
  readonly messages: readonly Message[];
  /** Names of the functions that earlier turns called. */
  readonly called: readonly string[];
}

class Talker {
  readonly messages: Message[] = [];
  readonly called = new Set<string>();
  readonly #dice: Dice;
  readonly #id: (at: number) => string;
  #calls = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#id = dice.pick(IDS);
  }

  talk(): Talk {
    const dice = this.#dice;
    for (let left = dice.pick([0, 1, 1, 1, 2]); left > 0; left -= 1) this.messages.push(systemTurn(dice));
    for (let left = 1 + dice.below(3); left > 0; left -= 1) this.#round();
    if (dice.below(12) === 0)
      this.messages.push({ role: 'assistant', content: textOf(dice), ...(dice.below(3) === 0 && { prefix: true }) });
    if (dice.below(12) === 0) this.messages.splice(dice.below(this.messages.length + 1), 0, systemTurn(dice));
    return { messages: this.messages, called: [...this.called] };
  }

  /** What is asked, what is answered or called, and what came of the calls. */
  #round(): void {
    const dice = this.#dice;
    if (dice.below(10) !== 0) this.messages.push(userTurn(dice));
    if (dice.below(12) === 0) this.messages.push(userTurn(dice));
    const isLast = dice.below(2) === 0;
    if (isLast && this.messages.length > 0) return;
    if (dice.below(2) === 0) this.#callTools();
    else {
      this.messages.push(this.#spoken(dice.below(10) === 0 ? [{ type: 'text', text: textOf(dice) }] : textOf(dice)));
      this.messages.push(userTurn(dice));
    }
  }

  #spoken(content: unknown, more: Message = {}): Message {
    const dice = this.#dice;
    const refusal = dice.below(30) === 0 ? { content: [{ type: 'refusal', refusal: 'no' }] } : {};
    return { role: 'assistant', content, ...thoughts(dice), ...refusal, ...more };
  }

  #callTools(): void {
    const dice = this.#dice;
    const calls = Array.from({ length: 1 + dice.below(3) }, () => {
      const name = dice.pick(['tide', 'wind']);
      this.called.add(name);
      this.#calls += 1;
      return { id: this.#id(this.#calls), type: 'function', function: { name, arguments: dice.pick(ARGUMENTS) } };
    });
    this.messages.push(this.#spoken(dice.pick([null, '', textOf(dice)]), { tool_calls: calls }));
    const results = calls.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: dice.below(6) === 0 ? [{ type: 'text', text: textOf(dice) }] : dice.pick(RESULTS),
    }));
    if (dice.below(3) === 0) results.reverse();
    this.messages.push(...results);
    if (dice.below(3) === 0) this.messages.push(userTurn(dice));
  }
}

/** What a client brings back of earlier thoughts: their text alone, or with what some vendor signed. */
function thoughts(dice: Dice): Message {
  switch (dice.below(14)) {
    case 0:
      return { reasoning_content: words(dice) };
    case 1:
      return {
        reasoning_content: 'so',
        reasoning_details: [
          { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'so', signature: 'c2ln' },
        ],
      };
    case 2:
      return {
        reasoning_content: 'so',
        reasoning_details: [{ type: 'reasoning.encrypted', index: 0, format: 'openai-responses-v1', data: 'c2VhbGVk' }],
      };
    default:
      return {};
  }
}

export const talkOf = (dice: Dice): Talk => new Talker(dice).talk();
