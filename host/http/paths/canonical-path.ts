import type { Router } from 'express';
import { GatewayError } from '../../contract/index.ts';
import { type Misspelling, rawPath, type RequestTarget } from '../context.ts';
import { MAX_PATH, readingsOf } from './path-readings.ts';
import { type Route, routesOf } from '../router.ts';

/** Where the APIs of providers stand: the version, or slashes and then it. */
const VERSIONED = /^\/+v1/;

/**
 * The one form of each path that routes know. Another spelling of a route's path is brought into it where it differs in slashes alone,
 * and refused otherwise, so that none goes on to a provider past the route's own rules (docs/passthrough.md).
 */
export class CanonicalPaths {
  #literal: ReadonlySet<string> = new Set();
  /** Those without a parameter, by their paths in lower case. */
  #byLowerCase: ReadonlyMap<string, Route> = new Map();
  #patterns: readonly Route[] = [];

  /** Once all routes are mounted. */
  learn(router: Router): void {
    const routes = routesOf(router);
    const literal = routes.filter(({ isLiteral }) => isLiteral);
    this.#literal = new Set(literal.map(({ path }) => path));
    this.#byLowerCase = new Map(
      literal.filter(({ path }) => VERSIONED.test(path)).map((route) => [route.path.toLowerCase(), route]),
    );
    this.#patterns = routes.filter(({ path, isLiteral }) => !isLiteral && VERSIONED.test(path));
  }

  /** Gives the request the path that counts, or says which route's its path is another spelling of. Nothing is done for a path that a route takes. */
  settle(request: RequestTarget): Misspelling | undefined {
    const path = rawPath(request);
    if (this.#literal.has(path) || !VERSIONED.test(path) || path.length > MAX_PATH) return undefined;
    const { method = '' } = request;
    if (this.#isAnswered(path, method)) return undefined;
    const plain = withoutEmpty(path);
    if (plain === path || !this.isRouted(plain)) return this.misspelt(path);
    rewrite(request, path, plain);
    return this.#isAnswered(plain, method) ? undefined : this.misspelt(plain);
  }

  /** What a path is another spelling of; `undefined` for one that is none, however it is read. */
  misspelt(path: string): Misspelling | undefined {
    const readings = readingsOf(path);
    if (!readings) return misspelling(withoutEmpty(path), 'the path can be read in too many ways');
    for (const reading of readings) {
      const route = this.#readAs(reading, path);
      if (route)
        return misspelling(
          route.isLiteral ? route.path : reading.replace(/^\/[^/]+/, (version) => version.toLowerCase()),
          `the path is another spelling of ${shownPath(route)}`,
        );
    }
    return undefined;
  }

  /** Whether a route takes the path as it stands, whatever the method. */
  isRouted(path: string): boolean {
    return this.#literal.has(path) || this.#patterns.some((route) => route.takes(path));
  }

  #isAnswered(path: string, method: string): boolean {
    return this.#literal.has(path) || this.#patterns.some((route) => route.answers(method) && route.takes(path));
  }

  /** The route that takes this reading of a path, and not the path as it is written. What is encoded in a parameter does not count. */
  #readAs(reading: string, written: string): Route | undefined {
    const literal = this.#byLowerCase.get(reading.toLowerCase());
    if (literal) return literal.path === written ? undefined : literal;
    return this.#patterns.find((route) => route.takesAnyCase(reading) && !route.takes(written));
  }
}

const misspelling = (path: string, message: string): Misspelling => ({
  path,
  error: new GatewayError('invalid_proxy_path', message),
});

/** As documents write it. */
const shownPath = ({ path }: Route): string => path.replace(/(?<!\\)[:*](\w+)/g, '{$1}').replaceAll('\\', '');

const withoutEmpty = (path: string): string => path.replace(/\/{2,}/g, '/').replace(/\/$/, '');

/** A name of our own: `originalUrl` is that of routers around the gateway, which cut off the path that they mount it at. */
const cameWith = Symbol('the address that a request came with');

interface Rewritten {
  [cameWith]?: string;
}

function rewrite(request: RequestTarget & Rewritten, written: string, path: string): void {
  const { url = '' } = request;
  request[cameWith] = url;
  request.url = path + url.slice(written.length);
}

/** The path that a request came with, where the one that counts is another. */
export function writtenPath(request: RequestTarget & Rewritten): string | undefined {
  const { [cameWith]: url } = request;
  return url === undefined ? undefined : rawPath({ url });
}
