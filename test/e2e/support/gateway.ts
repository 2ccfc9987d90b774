import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  forSuite,
  type GatewayProcess,
  startGateway,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
} from '../../kit/index.ts';

/** The model that clients ask for. Its name is not that of a reasoning model: LangChain sends `max_tokens` for it, not the newer field. */
export const MODEL = 'gpt-4.1-mini';

/** What the fixtures' upstream calls the same model; clients may ask for it by this name too. */
export const UPSTREAM_MODEL = 'gpt-4.1-mini-2025-04-14';

/** The gateway's own credential at the upstream; long enough to be redacted wherever it shows. */
export const UPSTREAM_KEY = 'upstream-key-3f91c2d4';

export interface Setup {
  readonly gateway: GatewayProcess;
  readonly upstream: StubUpstream;
  /** Where clients find the API. */
  readonly baseURL: string;
}

const CONFIG = `strategy:
  mode: single
targets:
  - virtual_key: openai
    models: [${MODEL}, ${UPSTREAM_MODEL}]
`;

/**
 * The gateway as a process of its own, one for all tests of the suite this is called in; its `openai` target calls a
 * loopback upstream. What is returned says, test by test, how that upstream answers.
 */
export function withGateway(): (handler: StubHandler) => Setup {
  let answering: StubHandler = () => {};
  const opened = forSuite(async (): Promise<Setup> => {
    const upstream = await stubUpstream((request, response) => answering(request, response));
    const folder = await temporaryFolder();
    const path = join(folder, 'config.yaml');
    await writeFile(path, CONFIG);
    const gateway = await startGateway({
      cwd: folder,
      variables: { GATEWAY_CONFIG: path, OPENAI_API_KEY: UPSTREAM_KEY, OPENAI_BASE_URL: upstream.url },
    });
    return { gateway, upstream, baseURL: `${gateway.url}/v1` };
  });
  return (handler) => {
    const setup = opened();
    answering = handler;
    setup.upstream.seen.length = 0;
    return setup;
  };
}
