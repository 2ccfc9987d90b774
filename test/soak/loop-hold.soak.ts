import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProviderModule, TranslatedSurface } from '../../host/contract/index.ts';
import { requestsFor } from '../contract/hostile/requests.ts';
import { PROVIDERS, variablesOf, wiresOf } from '../contract/hostile/wires.ts';
import { growthsOf } from '../contract/proportion/growths.ts';
import {
  chatReply,
  forSuite,
  type GatewayProcess,
  replyJson,
  ROUTES,
  startGateway,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

/** What a body may hold by default, but for a little. */
const BYTES = 10 * 1024 * 1024 - 4096;
/** Beyond it, a body under every limit keeps all other clients waiting. Milliseconds of CPU. */
const MOST_MS = 500;
/** Every so many of the ways to fill a body of a native wire are tried. */
const STEP = 3;

const repeated = (before: string, piece: string, after: string): string =>
  before + piece.repeat(Math.floor((BYTES - before.length - after.length) / piece.length)) + after;

/** Bodies that are hard to read, whatever the surface. */
function hardBodies(model: string): Record<string, string> {
  const head = `{"model":"${model}","messages":[{"role":"user","content":"x"}],"input":"x","prompt":"x","x":`;
  const deep = `${'['.repeat(100)}1${']'.repeat(100)},`;
  return {
    numbers: repeated(`${head}[1`, ',1', ']}'),
    'numbers without a double': repeated(`${head}[1`, ',12345678901234567890', ']}'),
    exponents: repeated(`${head}[1`, ',1e400', ']}'),
    escapes: repeated(`${head}"`, '\\u0041', '"}'),
    quotes: repeated(`${head}"`, '\\"', '"}'),
    texts: repeated(`${head}[""`, ',"a"', ']}'),
    lists: repeated(`${head}[[]`, ',[]', ']}'),
    objects: repeated(`${head}[{}`, ',{}', ']}'),
    'deep lists': repeated(`${head}[`, deep, '1]}'),
    members: `${head}{${Array.from({ length: 700_000 }, (_, at) => `"k${at}":1`).join()}}}`,
    'one name': repeated(`${head}{"a":1`, ',"a":1', '}}'),
    blanks: repeated(head, ' ', '1}'),
    brackets: repeated(head, '[', ''),
    'no end': repeated(`${head}"`, 'x', ''),
    'letters of many bytes': `${head}"${'\u{1f600}'.repeat(BYTES / 4 - 100)}"}`,
  };
}

/** The document of a growth that is as large as a body may be. */
function filled(document: (size: number) => unknown): string {
  const length = (size: number): number => Buffer.byteLength(JSON.stringify(document(size)));
  const [small, large] = [length(100), length(200)];
  const size = Math.floor((100 * (BYTES - small)) / Math.max(1, large - small));
  return JSON.stringify(document(Math.min(size, BYTES / 2))).slice(0, BYTES);
}

function bodiesFor(surface: TranslatedSurface, model: string, step: number): Record<string, () => string> {
  const [request] = requestsFor({ surface, model, stream: false });
  const grown = growthsOf(JSON.parse(JSON.stringify(request ?? {})))
    .filter((_growth, at) => at % step === 0)
    .map(({ what, document }) => [what, () => filled(document)] as const);
  return {
    ...Object.fromEntries(grown),
    ...Object.fromEntries(Object.entries(hardBodies(model)).map(([what, text]) => [what, () => text])),
  };
}

interface Scene {
  readonly gateway: GatewayProcess;
  readonly surface: TranslatedSurface;
  readonly model: string;
}

async function sceneOf(module: ProviderModule, surface: TranslatedSurface): Promise<Scene> {
  const model = wiresOf(module).find((wire) => wire.surface === surface)?.model ?? 'm';
  const upstream = await stubUpstream((_request, response) => {
    replyJson(response, 200, chatReply('ok'));
  });
  const cwd = await temporaryFolder();
  await writeFile(
    join(cwd, 'config.yaml'),
    JSON.stringify({
      targets: [{ virtual_key: module.name, models: [model] }],
      plugins: [
        { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['never said'] } },
        { name: 'max-token', stage: 'before_request', enabled: true, config: { max_tokens: 100_000 } },
      ],
    }),
  );
  return {
    surface,
    model,
    gateway: await startGateway({
      cwd,
      variables: { GATEWAY_CONFIG: join(cwd, 'config.yaml'), ...variablesOf(module, upstream.url) },
    }),
  };
}

/** How long the loop was held up by a body, and what the answer was. */
async function heldBy({ gateway, surface }: Scene, body: string): Promise<readonly [ms: number, status: number]> {
  await gateway.longestTurn();
  const { status } = await fetch(`${gateway.url}${ROUTES[surface] ?? ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
    body,
  }).then(async (answer) => {
    await answer.text();
    return answer;
  });
  return [await gateway.longestTurn(), status];
}

/** The first provider that serves each surface in the common wire, and every native wire that chats. */
function scenes(): (readonly [ProviderModule, TranslatedSurface, number])[] {
  const common = (Object.keys(ROUTES) as TranslatedSurface[]).flatMap((surface) => {
    const module = PROVIDERS.find(({ wire, translators }) => wire === 'common' && translators[surface]);
    return module ? [[module, surface, 1] as const] : [];
  });
  return [
    ...common,
    ...PROVIDERS.filter(({ wire }) => wire === 'native').map((module) => [module, 'chat', STEP] as const),
  ];
}

describe('how long a body of 10 MiB holds everybody up', function suite() {
  this.timeout(1_200_000);
  const table: string[] = [];

  for (const [module, surface, step] of scenes()) {
    describe(`${surface}, ${module.name}`, () => {
      const running = forSuite(() => sceneOf(module, surface));

      it('is bounded', async () => {
        const scene = running();
        const figures: (readonly [what: string, ms: number, status: number])[] = [];
        for (const [what, make] of Object.entries(bodiesFor(surface, scene.model, step)))
          figures.push([what, ...(await heldBy(scene, make()))]);
        const worst = figures.toSorted(([, a], [, b]) => b - a);
        table.push(
          ...worst
            .slice(0, 5)
            .map(
              ([what, ms, status]) => `${ms.toFixed(0).padStart(6)} ms  ${status}  ${surface}, ${module.name}: ${what}`,
            ),
        );
        expect(
          worst.filter(([, ms]) => ms > MOST_MS),
          'bodies that hold the loop for too long',
        ).to.deep.equal([]);
      });
    });
  }

  after(() => {
    process.stdout.write(`${table.join('\n')}\n`);
  });
});
