import { readFileSync } from 'node:fs';
import { expect } from 'chai';

/**
 * What clients of other wires are promised, and the test that holds each promise: file below `test/`, and how its title begins. The rules are
 * those of docs/reference/ingress.md. A title that changes must be changed here.
 */
const HELD: readonly (readonly [
  number: number,
  promise: string,
  ...tests: (readonly [file: string, title: string])[],
])[] = [
  [
    1,
    'both versions of @anthropic-ai/sdk create, stream, count and list',
    ['e2e/anthropic-sdk.test.ts', '${version} asks ${model} for a whole message'],
    ['e2e/anthropic-sdk.test.ts', '${version} counts tokens and lists models'],
  ],
  [
    2,
    'same wire: the body differs in the bytes of the model alone',
    ['wires/messages-same-wire.test.ts', 'differ in the model alone behind an alias'],
    ['wire/json-changes.test.ts', 'differs in the bytes of the value alone'],
  ],
  [
    3,
    'same wire without an alias: equal bodies',
    ['wires/messages-same-wire.test.ts', 'are its bytes, answer and all'],
  ],
  [
    4,
    'a second model is refused',
    ['wires/messages-cross-wire.test.ts', 'are refused where the model stands there twice'],
  ],
  [
    5,
    'version and betas reach the vendor, the flag of a login does not',
    ['wires/messages-same-wire.test.ts', 'are its bytes, answer and all'],
  ],
  [
    6,
    'the newer version refuses what it no longer has',
    ['wires/messages-cross-wire.test.ts', 'are refused by a newer version with ${name}'],
  ],
  [
    7,
    'a key in either header, the first valid one counts',
    ['wires/corners.test.ts', 'count on the paths of their own wire'],
    ['wires/messages-cross-wire.test.ts', 'are refused, whatever refuses them'],
  ],
  [8, 'a key in the place of another wire is none', ['wires/corners.test.ts', 'count on the paths of their own wire']],
  [
    9,
    'a key in a query is in no line, span, error or address',
    ['wires/gemini/routes.test.ts', 'never shows a key of the query'],
    ['wire/credentials.test.ts', 'leave no trace of the query'],
  ],
  [
    10,
    'no credential of a client goes upstream',
    ['wires/messages-same-wire.test.ts', 'are its bytes, answer and all'],
    ['wires/gemini/same-wire.test.ts', 'takes no credential and no header of the client along'],
  ],
  [
    11,
    'what the shell refuses is in the wire of the path',
    ['wire/client-wires.test.ts', 'is in the wire of the path: ${what}, ${status}'],
    ['wires/messages-cross-wire.test.ts', 'are refused, whatever refuses them'],
  ],
  [
    12,
    'each code has its status and type in each wire',
    ['wires/corners.test.ts', 'have the type and the status of the cross table'],
    ['e2e/anthropic-sdk.test.ts', '${version} throws the errors of its types'],
    ['e2e/genai-sdk.test.ts', 'throws its error with the status'],
    ['e2e/responses-client.test.ts', 'throws ${type.name} where the upstream answers'],
  ],
  [13, 'when to come again', ['wires/corners.test.ts', 'tell when to come again']],
  [
    14,
    'where a repeat cannot help',
    ['wires/corners.test.ts', 'say that a repeat cannot help on seven codes'],
    ['e2e/anthropic-sdk.test.ts', '${version} throws the errors of its types'],
  ],
  [15, 'request-id is X-Request-ID', ['wires/messages-same-wire.test.ts', 'are its bytes, answer and all']],
  [
    16,
    'instructions as a text, blocks, with marks',
    ['wires/messages-cross-wire.test.ts', 'carry what the common format has a place for'],
    ['wires/adapt.test.ts', 'marks caches where the target reads marks'],
  ],
  [17, 'the line about billing', ['wires/corners.test.ts', 'drop the line about billing']],
  [
    18,
    'instructions in the middle',
    ['wires/adapt.test.ts', 'keeps instructions in their place'],
    ['wires/messages-failover.test.ts', 'have their late system messages in their place'],
  ],
  [
    19,
    'texts, images and documents',
    ['wires/corners.test.ts', 'carry texts, images and documents'],
    ['wires/messages-cross-wire.test.ts', 'carry what the common format has a place for'],
    ['wires/adapt.test.ts', 'refuses documents by their address'],
  ],
  [
    20,
    'files that the vendor keeps',
    ['wires/messages-cross-wire.test.ts', 'are refused with the path: ${what}'],
    ['wires/corners.test.ts', 'pass what only the vendor has'],
  ],
  [
    21,
    'blocks that are not known',
    ['wires/messages-cross-wire.test.ts', 'are refused with the path: ${what}'],
    ['wires/corners.test.ts', 'pass what only the vendor has'],
  ],
  [22, 'parallel calls and their results', ['wires/corners.test.ts', 'have results before the words of a turn']],
  [23, 'media of results', ['wires/corners.test.ts', 'have results before the words of a turn']],
  [
    24,
    'a tool that failed',
    ['wires/corners.test.ts', 'give Gemini its signature back'],
    ['wires/adapt.test.ts', 'tells only native wires that a tool failed'],
    ['wires/messages-bedrock.test.ts', 'go through the common format to other models, errors of tools included'],
  ],
  [
    25,
    'results that do not fit their calls',
    ['wires/messages-cross-wire.test.ts', 'are refused with the path: ${what}'],
  ],
  [26, 'digits of what tools are given', ['wires/corners.test.ts', 'keep every digit of what a tool is given']],
  [27, 'long names of tools', ['wires/messages-cross-wire.test.ts', 'cut names of tools that are too long']],
  [
    28,
    'tools that the vendor runs',
    ['wires/messages-cross-wire.test.ts', 'name what is lost, in the order of the body'],
    ['wires/messages-cross-wire.test.ts', 'are refused with the path: ${what}'],
  ],
  [29, 'the choice of a tool', ['wires/corners.test.ts', 'ask for tools in all five forms']],
  [
    30,
    'how much to think',
    ['wires/adapt.test.ts', 'reasons with ${what}, where the model does'],
    ['wires/adapt.test.ts', 'does not reason where that is switched off'],
  ],
  [
    31,
    'signatures of Anthropic',
    ['wires/messages-same-wire.test.ts', 'stream in its bytes'],
    ['wires/messages-property.test.ts', 'of a conversation that goes through the common format and back'],
  ],
  [
    32,
    'signatures of Gemini through a client of Messages',
    ['wires/corners.test.ts', 'give Gemini its signature back'],
    ['wires/messages-cross-wire.test.ts', 'give reasoning of another vendor back to it'],
  ],
  [
    33,
    'reasoning without a signature, next turn to Anthropic',
    ['wires/messages-failover.test.ts', 'leave reasoning of another vendor out where it would be refused'],
  ],
  [34, 'envelopes that are none', ['wires/envelope.test.ts', 'is not found in ${what}']],
  [
    35,
    'more tokens than the model has',
    ['wires/adapt.test.ts', 'asks for no more tokens than the model can answer with'],
  ],
  [36, 'the user as a digest', ['wires/corners.test.ts', 'name the user by a digest']],
  [
    37,
    'the report of what is lost',
    ['wires/corners.test.ts', 'name the user by a digest, and at most fifty things'],
    ['wires/messages-cross-wire.test.ts', 'say nothing of what is lost'],
    ['wires/messages-failover.test.ts', 'get each target its own body'],
  ],
  [
    38,
    'why an answer ended',
    ['wires/corners.test.ts', 'have the words of the cross table in each wire'],
    ['wires/messages-property.test.ts', 'say what the whole answer says'],
  ],
  [
    39,
    'token counts',
    ['wires/gemini/answer.test.ts', 'counts ${JSON.stringify(usage)}'],
    ['wires/responses/stream.test.ts', 'counts cache writes as input'],
    ['wires/messages-cross-wire.test.ts', 'answer as a message, whole'],
    ['wires/corners.test.ts', 'begin with a ping and numbers'],
  ],
  [40, 'the order of events', ['wires/messages-property.test.ts', 'say what the whole answer says']],
  [
    41,
    'a chunk that opens and fills',
    ['wires/messages-property.test.ts', 'say what the whole answer says'],
    ['wires/responses/stream.test.ts', 'loses nothing of a chunk that opens an item and fills it'],
  ],
  [42, 'fragments of calls that come mixed', ['wires/corners.test.ts', 'buffer fragments of calls that come mixed']],
  [43, 'blocks of the right kind', ['wires/messages-cross-wire.test.ts', 'stream as events, the blocks in order']],
  [
    44,
    'calls without an id, alike, late, empty',
    ['wires/corners.test.ts', 'buffer fragments of calls that come mixed'],
    ['wires/corners.test.ts', 'give each call an id of its own'],
  ],
  [45, 'a signature whole, once', ['wires/corners.test.ts', 'send a signature whole and once']],
  [46, 'pings', ['wires/messages-quiet.test.ts', 'says every 15 seconds that it goes on']],
  [
    47,
    'streams that break off',
    ['wires/corners.test.ts', 'end in an error of its type'],
    ['wires/gemini/stream.test.ts', 'is a whole list whenever it breaks off'],
    ['wires/responses/stream.test.ts', 'ends as failed where the upstream breaks off'],
  ],
  [
    48,
    'a client puts a stream together as the whole answer',
    ['e2e/anthropic-sdk.test.ts', '${version} puts the stream of ${model} together'],
    ['e2e/genai-sdk.test.ts', 'puts the stream of ${model} together'],
    ['wires/responses/property.test.ts', 'are the same streamed and whole'],
    ['wires/messages-property.test.ts', 'of the vendor leave as they came, wherever they are cut'],
  ],
  [49, 'clients that leave', ['wires/abort.test.ts', 'releases the upstream and its place: ${what}']],
  [
    50,
    '@google/genai generates, streams, counts, embeds and lists',
    ['e2e/genai-sdk.test.ts', 'asks ${model} for a whole answer'],
    ['e2e/genai-sdk.test.ts', 'makes vectors'],
    ['e2e/genai-sdk.test.ts', 'counts tokens and lists models'],
  ],
  [
    51,
    'streams in one list',
    ['wires/gemini/stream.test.ts', 'is one list where the client asks for no events'],
    ['wires/corners.test.ts', 'has an error in a list where nothing had begun'],
  ],
  [52, 'names of models', ['wires/gemini/routes.test.ts', 'finds the model in the path']],
  [
    53,
    'results without an id',
    ['wires/gemini/request.test.ts', 'have the results of calls first'],
    ['wires/gemini/request.test.ts', 'refuses ${JSON.stringify(body)}, by its path'],
  ],
  [
    54,
    'forms of results',
    ['wires/gemini/request.test.ts', 'have the result ${JSON.stringify(response)}'],
    ['wires/gemini/request.test.ts', 'have media inside results'],
  ],
  [55, 'schemas with upper case types', ['wires/gemini/request.test.ts', 'carries ${JSON.stringify(given)}']],
  [56, 'one reason for each candidate', ['wires/gemini/stream.test.ts', 'has one reason for each candidate']],
  [
    57,
    'thoughts that are not wanted',
    ['wires/gemini/answer.test.ts', 'leaves thoughts out unless they are asked for'],
  ],
  [
    58,
    'settings and tools of the vendor',
    ['wires/gemini/request.test.ts', 'reports what has no place elsewhere'],
    ['wires/gemini/request.test.ts', 'refuses ${JSON.stringify(body)}, by its path'],
  ],
  [
    59,
    'batches of vectors',
    ['wires/gemini/routes.test.ts', 'are made of several, in their order'],
    ['wires/gemini/routes.test.ts', 'refuse ${JSON.stringify(body)'],
  ],
  [
    60,
    'Responses are not translated unless that is said',
    ['wires/responses/gateway.test.ts', 'is 501 for a provider of another wire'],
  ],
  [
    61,
    'who gets Responses as they are',
    ['wires/responses/gateway.test.ts', 'keeps every byte of what goes on as it is'],
    ['wires/responses/gateway.test.ts', 'is found by the owner of its model'],
  ],
  [
    62,
    'the client of OpenAI',
    ['e2e/responses-client.test.ts', 'finishes two turns with a tool, an image and reasoning'],
    ['wires/responses/property.test.ts', 'are the same streamed and whole'],
    ['wires/responses/stream.test.ts', 'has every event of a text, in order'],
  ],
  [
    63,
    'what needs state',
    ['wires/responses/request.test.ts', 'is refused with ${name}, by name'],
    ['wires/responses/request.test.ts', 'takes null for what is not there'],
  ],
  [
    64,
    'nothing is stored',
    ['wires/responses/request.test.ts', 'reports what no other vendor can be given'],
    ['wires/responses/stream.test.ts', 'begins and ends with the whole object of the answer'],
  ],
  [
    65,
    'tools with free text',
    ['wires/responses/stream.test.ts', 'has calls of custom tools with their raw input'],
    ['wires/responses/stream.test.ts', 'reads the input of a custom tool out of ${args}'],
  ],
  [
    66,
    'namespaces and searches',
    ['wires/responses/stream.test.ts', 'has calls of namespaces and searches'],
    ['wires/responses/request.test.ts', 'grow by those that the input brings'],
  ],
  [
    67,
    'reasoning that comes back',
    ['wires/responses/request.test.ts', 'bring back reasoning of other vendors out of its envelope'],
  ],
  [68, 'calls without an id', ['wires/responses/stream.test.ts', 'has an id of its own for a call']],
  [
    69,
    'answers that are not complete',
    ['wires/corners.test.ts', 'have the words of the cross table in each wire'],
    ['wires/responses/stream.test.ts', 'ends as failed where the upstream breaks off'],
  ],
  [
    70,
    'tokens counted',
    ['wires/messages-same-wire.test.ts', 'count by the vendor, or by an estimate'],
    ['wires/gemini/count.test.ts', 'is an estimate that errs high'],
    ['wires/gemini/count.test.ts', 'knows models and guardrails'],
  ],
  [
    71,
    'lists of models',
    ['wires/messages-cross-wire.test.ts', 'list models as the vendor does'],
    ['models/gemini-list.test.ts', 'comes in pages'],
    ['models/gemini-list.test.ts', 'lists only what routes'],
  ],
  [
    72,
    'a canary in every place',
    ['wires/messages-guardrails.test.ts', 'read ${place}, whatever the target speaks'],
    ['wires/messages-guardrails.test.ts', 'read a stream of the vendor: ${what}'],
    ['plugins/gemini-canary.test.ts', 'is blocked wherever it stands in a stream of the vendor'],
    ['wires/responses/canary.test.ts', 'is found wherever it stands'],
  ],
  [
    73,
    "masks in the client's own wire",
    ['wires/messages-guardrails.test.ts', 'mask a text in its place'],
    ['wires/messages-guardrails.test.ts', 'refuse what they would have to mask in a thought'],
  ],
  [
    74,
    'answers from a cache',
    ['wires/messages-guardrails.test.ts', 'keep an answer of the vendor out of the cache'],
    ['wires/responses/gateway.test.ts', 'answer from the cache in this wire'],
  ],
  [
    75,
    'failover from wire to wire',
    ['wires/messages-failover.test.ts', 'get each target its own body'],
    ['wires/gemini/same-wire.test.ts', 'has each attempt made from the client'],
  ],
  [
    76,
    'routing on each wire',
    ['wires/corners.test.ts', 'route by alias, by model_map and by what is asked'],
    ['wires/gemini/same-wire.test.ts', 'names another model in the path alone'],
  ],
  [
    77,
    'through the common format and back',
    ['wires/messages-property.test.ts', 'of a conversation that goes through the common format and back'],
  ],
  [
    78,
    'large bodies and names of prototypes',
    ['contract/proportion/proportion.test.ts', 'in ${what}, on every route'],
    ['wires/gemini/request.test.ts', 'take names like __proto__ as plain data'],
    ['soak/loop-hold.soak.ts', 'is bounded'],
  ],
  [
    79,
    'agents from npm',
    ['agents/claude-code.agents.ts', 'finishes a task with two commands through ${target}'],
    ['agents/gemini-cli.agents.ts', 'finishes a task with two commands'],
    ['agents/codex.agents.ts', 'finishes a task with a command and a patch'],
  ],
  [
    80,
    'a stream of the same wire costs no more',
    ['bench/bodies.ts', '`messages` is `burst` in the wire'],
    ['providers/anthropic-reply.test.ts', 'are not parsed where nothing in them is escaped'],
  ],
];

const textOf = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

describe('the promises to clients of other wires', () => {
  it('are all on the list, once each', () => {
    expect(HELD.map(([number]) => number)).to.deep.equal(Array.from({ length: 80 }, (_, at) => at + 1));
  });

  it('are held by tests that exist', () => {
    const missing = HELD.flatMap(([number, promise, ...tests]) =>
      tests
        .filter(([file, title]) => !textOf(file).includes(title))
        .map(([file, title]) => `${number} ${promise}: ${file} has no "${title}"`),
    );
    expect(missing).to.deep.equal([]);
    expect(HELD.filter(([, , ...tests]) => tests.length === 0)).to.deep.equal([]);
  });
});
