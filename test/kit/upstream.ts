import { bearer, defineProvider, type ProviderModule } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { type StubHandler, type StubServer, stubUpstream as openStub } from '../../host/testing/stub-upstream.ts';
import { atEnd } from './cleanup.ts';

export {
  chatChunks,
  chatReply,
  openSse,
  replyJson,
  replyStream,
  type SeenRequest,
  sseEvent,
  type StubHandler,
} from '../../host/testing/stub-upstream.ts';

/** A target that brings its own provider, so that any name is a valid `virtual_key`. */
export interface StubTarget {
  readonly virtual_key: string;
  readonly [key: string]: unknown;
}

export const stubProvider = Symbol('stub provider');

export interface StubUpstream extends StubServer {
  /** A target named `name` that calls this upstream on the common wire; it serves model `m` unless `more` says otherwise. */
  target(name: string, more?: object, module?: Partial<ProviderModule>): StubTarget;
  /** The provider that `target` registers. */
  provider(name: string, module?: Partial<ProviderModule>): ProviderModule;
}

/** A loopback server on a port of its own; gone after the test. */
export async function stubUpstream(handler: StubHandler): Promise<StubUpstream> {
  const server = await openStub(handler);
  const { url } = server;
  atEnd(() => server.close());
  const provider = (name: string, module: Partial<ProviderModule> = {}): ProviderModule =>
    defineProvider({
      name,
      wire: 'common',
      params: {},
      translators: commonTranslators(['chat'], {}),
      ...module,
      connection: { env: ['STUB_API_KEY'], baseUrl: url, authorize: bearer('STUB_API_KEY'), ...module.connection },
    });
  return {
    ...server,
    provider,
    target: (name, more = {}, module = {}) => ({
      virtual_key: name,
      models: ['m'],
      ...more,
      [stubProvider]: provider(name, module),
    }),
  };
}
