import { expect } from 'chai';
import { parsed } from '../differential/meaning/meaning.ts';
import { Dice, forSuite, golden, openSse, some, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { type Counted, type End, OFFICIAL_CLIENTS, type OfficialClient, type Said } from './official-clients.ts';

type Fields = Record<string, any>;

/** A recorded answer of the Responses API: whole, and the bytes of its stream. */
interface Recording {
  readonly whole: Fields;
  readonly stream: Buffer;
}

const recorded = (name: string): Recording => ({
  whole: JSON.parse(golden(`openai/responses/${name}.json`)) as Fields,
  stream: Buffer.from(golden(`openai/responses/${name}.sse`)),
});

/** A recording whose answer was cut off for this reason. */
function cutOff({ whole, stream }: Recording, reason: string): Recording {
  const ending = { status: 'incomplete', incomplete_details: { reason } };
  const text = stream
    .toString()
    .split('\n')
    .map((line) => {
      if (line === 'event: response.completed') return 'event: response.incomplete';
      if (!line.includes('"type":"response.completed"')) return line;
      const event = JSON.parse(line.slice('data: '.length)) as Fields;
      return `data: ${JSON.stringify({ ...event, type: 'response.incomplete', response: { ...event['response'], ...ending } })}`;
    })
    .join('\n');
  return { whole: { ...whole, ...ending }, stream: Buffer.from(text) };
}

const RECORDED: Readonly<Record<string, Recording>> = Object.fromEntries(
  ['sealed', 'phases', 'turning-ids', 'wrapper', 'custom', 'search'].map((name) => [name, recorded(name)]),
);
const ENDED_EARLY: Readonly<Record<string, Recording>> = {
  'sealed, too long': cutOff(recorded('sealed'), 'max_output_tokens'),
  'phases, filtered': cutOff(recorded('phases'), 'content_filter'),
};

/** What a recorded answer says, by the vendor's documentation of it alone. */
interface Truth extends Pick<Said, 'text' | 'reasoning' | 'calls'> {
  readonly end: End;
  readonly counted: Counted;
}

const EARLY_ENDS: Readonly<Record<string, End>> = { max_output_tokens: 'length', content_filter: 'content_filter' };

function truthOf({ output, status, incomplete_details: details, usage }: Fields): Truth {
  const joined = (texts: readonly string[]): string => texts.join('\n\n');
  const ofType = (type: string): Fields[] => output.filter((item: Fields) => item['type'] === type);
  const calls = (output as readonly Fields[]).flatMap(callsIn);
  const whole = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    text: joined(ofType('message').map(({ content }) => content.map(({ text }: Fields) => text).join(''))),
    reasoning: joined(ofType('reasoning').flatMap(({ summary }) => summary.map(({ text }: Fields) => text))),
    calls,
    end: status === 'completed' ? whole : EARLY_ENDS[details.reason]!,
    counted: {
      input: usage.input_tokens,
      cached: usage.input_tokens_details.cached_tokens,
      written: usage.input_tokens_details.cache_write_tokens ?? 0,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    },
  };
}

/** The calls of an item: one that makes several at once stands for those. */
function callsIn({ type, name, arguments: text, input }: Fields): Said['calls'] {
  if (type === 'custom_tool_call') return [{ name, input }];
  if (type !== 'function_call') return [];
  const given = parsed(text) as Fields;
  if (name !== 'parallel') return [{ name, input: given }];
  return given['tool_uses'].map(({ recipient_name: recipient, parameters }: Fields) => ({
    name: recipient.replace(/^functions\./, ''),
    input: parameters,
  }));
}

function expected({ whole }: Recording, { endOf, usageOf }: OfficialClient): Said {
  const { counted, end, ...said } = truthOf(whole);
  return { ...said, end: endOf(end), usage: usageOf(counted) };
}

const NEW_LINE = 0x0a;
const continues = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Three places at which a stream is cut, drawn: within a character if it has one of several bytes, between the two ends of line behind an event, anywhere. */
function drawn(bytes: Buffer, dice: Dice): number[] {
  const places = [...bytes.keys()].slice(1);
  const within = places.filter((at) => continues(bytes[at]));
  const between = places.filter((at) => bytes[at - 1] === NEW_LINE && bytes[at] === NEW_LINE);
  return [within.length > 0 ? within : places, between, places].map((kind) => dice.pick(kind));
}

/** Three places a third of the stream apart, for each of a third of its bytes: together, every place. */
function inThirds({ length }: Buffer): number[][] {
  const third = Math.ceil(length / 3);
  return Array.from({ length: third }, (_, at) => [at + 1, at + 1 + third, at + 1 + 2 * third]);
}

function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts)].filter((at) => at < bytes.length).toSorted((a, b) => a - b);
  return [...ends, bytes.length].map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

/** A gateway whose vendor gives these answers. */
interface Scene {
  readonly host: TestHost;
  readonly play: (recording: Recording, cuts?: readonly number[]) => void;
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

async function open(): Promise<Scene> {
  let [playing, places]: [Recording | undefined, readonly number[]] = [undefined, []];
  const upstream = await stubUpstream(async (request, response) => {
    if (request.url !== '/v1/responses') {
      response.writeHead(404).end();
      return;
    }
    if (request.json()['stream'] !== true) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(playing!.whole));
      return;
    }
    openSse(response);
    for (const piece of piecesOf(playing!.stream, places)) {
      response.write(piece);
      await turn(); // so that the next piece is read apart
    }
    response.end();
  });
  const target = {
    virtual_key: 'openai',
    models: ['m'],
    model_map: { m: 'gpt-5.4' },
    chat_via: 'responses',
    responses: 'translate',
  };
  const host = await startHost(
    { targets: [target] },
    {
      variables: {
        OPENAI_API_KEY: 'vendor-key-0123456789',
        OPENAI_BASE_URL: `${upstream.url}/v1`,
        LOG_LEVEL: 'error', // lines are kept, and the soak asks some ten thousand times
      },
    },
  );
  return {
    host,
    play: (recording, cuts = []) => {
      playing = recording;
      places = cuts;
      upstream.seen.length = 0;
    },
  };
}

describe('recorded answers of the Responses API, by the official clients of each wire', () => {
  const scene = forSuite(open);

  for (const [place, [name, recording]] of Object.entries({ ...RECORDED, ...ENDED_EARLY }).entries())
    for (const client of OFFICIAL_CLIENTS) {
      if (name === 'custom' && !client.hasCustomTools) continue;
      it(`${name}: the same whole and streamed in three cuts, for clients of ${client.name}`, async () => {
        const { host, play } = scene();
        const truth = expected(recording, client);
        play(recording);
        expect(await client.ask(host.url, false), 'whole').to.deep.equal(truth);
        const { stream } = recording;
        const dice = new Dice(place + 1);
        const everywhere = name in RECORDED ? inThirds(stream) : [];
        const every = everywhere.length;
        for (const cuts of [
          drawn(stream, dice),
          drawn(stream, dice),
          ...some(everywhere, { every, from: dice.below(every) }),
        ]) {
          play(recording, cuts);
          expect(await client.ask(host.url, true), `cut at ${cuts.join(', ')}`).to.deep.equal(truth);
        }
      }).timeout(600_000); // in the soak a stream is cut everywhere
    }
});
