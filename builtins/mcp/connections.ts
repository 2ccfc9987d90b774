import { TextScrubber } from '../../host/config/scrub-text.ts';
import { resolveReferences } from '../../host/config/references.ts';
import { canonicalJson } from '../../host/config/canonical.ts';
import type { McpServerConfig } from '../../host/config/document.ts';
import { within } from '../../host/common/clock.ts';
import type { Carryover } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import { ServerConnection } from './connection.ts';
import { HiddenTexts } from './hidden-texts.ts';
import { openLink } from './link/open-link.ts';
import { ServedConnections } from './served-connections.ts';

/** How long all servers together have to end with the gateway. See docs/reference/server.md#the-end-of-a-process. */
export const CLOSE_ALL_MS = 7000;

const DEFAULT_LIMIT_S = 30;

/**
 * The connections of one gateway, which outlive the configurations that name them: two configurations with the same block for a
 * server share one. It is closed after the last of them, in the background, and the end of the gateway waits for it.
 */
export class Connections {
  readonly #host: Host;
  readonly #live = new Set<ServerConnection>();
  readonly #closing = new Set<Promise<void>>();
  readonly #served: ServedConnections | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#served = host.team?.role === 'primary' ? new ServedConnections(host.team) : undefined;
  }

  /** The connection of a server; a text that says why there can be none. */
  lease(server: McpServerConfig, carryover: Carryover): ServerConnection | string {
    const { redactor, variables } = this.#host;
    const { value, undefinedNames } = resolveReferences(
      {
        ...(server.url !== undefined && { url: server.url }),
        headers: server.headers ?? {},
        env: server.env ?? {},
      },
      variables,
      (secret) => redactor.register(secret),
    );
    const key = `mcp server ${canonicalJson(server)}`;
    if (undefinedNames.length > 0) return carryover.lease(key, () => this.#unset(server, undefinedNames)); // variables do not change, so a key has always the same
    return carryover.lease(
      key,
      () => this.#connect({ ...server, ...value }, key),
      (connection) => {
        this.#served?.forget(key);
        this.#close(connection);
      },
    );
  }

  /** Logged once, for as long as some configuration has the server. */
  #unset(server: McpServerConfig, names: readonly string[]): string {
    const error = `${names.length === 1 ? 'an environment variable is' : 'environment variables are'} not set: ${names.join(', ')}`;
    this.#host.log.warn('mcp server is not ready', { server: this.#shownName(server), error });
    return error;
  }

  /** Ends all of them: what does not end by itself within seven seconds is killed with its whole process group. */
  async close(): Promise<void> {
    for (const connection of this.#live) this.#close(connection);
    const { clock, log } = this.#host.services;
    await within(Promise.all(this.#closing), CLOSE_ALL_MS, clock, 'the end of the tool servers').catch(() =>
      log.warn('mcp servers did not end in time and are killed', { servers: this.#live.size }),
    );
    this.#killAll();
    for (const connection of this.#live) this.#forget(connection);
  }

  /** Also where the process ends without having been asked to: servers in groups of their own would live on. */
  readonly #killAll = (): void => {
    for (const connection of this.#live) connection.kill();
  };

  #connect(config: McpServerConfig, key: string): ServerConnection {
    const {
      services: { transport, clock, log },
      redactor,
      variables,
      workingDirectory,
      build,
      hooks,
    } = this.#host;
    const { timeout_seconds: seconds = 0, allowed_tools: allowedTools = [] } = config;
    const name = this.#shownName(config);
    const hidden = new HiddenTexts(config, [
      ...Object.values(config.headers ?? {}),
      ...Object.values(config.env ?? {}),
    ]);
    const clean = (text: string): string => redactor.excerpt(hidden.clean(text));
    const connection = new ServerConnection({
      name,
      allowedTools,
      clock,
      log,
      clean,
      limitMs: (seconds > 0 ? seconds : DEFAULT_LIMIT_S) * 1000,
      gatewayVersion: build.version,
      open: (events, renew) =>
        openLink(
          { config: { ...config, name }, variables, workingDirectory, transport, clock, log, clean },
          events,
          renew,
        ),
      onHandshake: (handshake) => hooks.toolServerTried.call(handshake, this.#host),
      onChange: this.#served && (() => this.#served?.changed(key)),
    });
    this.#served?.serve(key, connection);
    if (this.#live.size === 0) process.on('exit', this.#killAll);
    this.#live.add(connection);
    return connection;
  }

  /** As it stands in log lines and figures: it may be anything, an address too. */
  #shownName({ name = '' }: McpServerConfig): string {
    return new TextScrubber(this.#host.redactor).name(name);
  }

  #forget(connection: ServerConnection): void {
    if (this.#live.delete(connection) && this.#live.size === 0) process.off('exit', this.#killAll);
  }

  /** Not waited for by the configuration that goes: a child has some seconds to end. */
  #close(connection: ServerConnection): void {
    const closing: Promise<void> = connection
      .close()
      .catch((error: unknown) => this.#host.log.error('an mcp server could not be closed', { error }))
      .finally(() => {
        this.#closing.delete(closing);
        this.#forget(connection);
      });
    this.#closing.add(closing);
  }
}
