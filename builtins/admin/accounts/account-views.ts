import { GatewayError } from '../../../host/contract/index.ts';
import type { Account } from '../../../host/common/accounts/account.ts';
import { depthOf, isWithin, ROOT } from '../../../host/common/accounts/account-path.ts';
import { AccountTree } from '../../../host/common/accounts/account-tree.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import { Query } from '../query.ts';
import { reading } from '../store-calls.ts';
import { accountId } from '../../../host/common/accounts/account-id.ts';
import { accountObject } from './account-object.ts';
import { budgetStates } from './budget-states.ts';
import { KnownAccounts } from './known-accounts.ts';

const PAGE = 100;
const LONGEST_PAGE = 1000;
const ORIGINS = ['declared', 'stored', 'implied'] as const;

export type AccountHost = Pick<Host, 'current' | 'stores' | 'services' | 'log'>;

/** Accounts and tags as administrators see them. */
export class AccountViews {
  readonly #host: AccountHost;

  constructor(host: AccountHost) {
    this.#host = host;
  }

  tree(): AccountTree {
    return this.#host.current?.accounts.tree() ?? new AccountTree({ declared: [], stored: [], timezone: 'UTC' });
  }

  async list({ request }: Pick<JsonCall, 'request'>): Promise<JsonAnswer> {
    const query = new Query(request);
    const counts = await this.#counts();
    const known = new KnownAccounts(this.tree(), counts.keys());
    const [limit, offset] = [query.limit(PAGE, LONGEST_PAGE), query.offset()];
    const filters = filtersIn(query);
    const found = known.all().filter((account) => isAsked(account, filters));
    const page = found.slice(offset, offset + limit);
    const data: object[] = [];
    for (const account of page) data.push(await this.#shown(account, known, counts));
    const { path, under, depth, q, origin } = filters;
    return {
      status: 200,
      body: {
        data,
        summary: { total: found.length, returned: data.length },
        filters: { path, under, depth, q, origin, limit, offset },
      },
    };
  }

  /** By its id; 404 where it is not known. */
  async find(id: string): Promise<Account> {
    const counts = await this.#counts();
    const account = new KnownAccounts(this.tree(), counts.keys()).find(id);
    if (!account) throw unknownAccount(id);
    return account;
  }

  /** As it is now, with its version as `ETag`. */
  async answer(path: string, status = 200): Promise<JsonAnswer> {
    const counts = await this.#counts();
    const tree = this.tree();
    const account = tree.find(path);
    if (!account) throw unknownAccount(accountId(path));
    const version = this.#host.stores.accounts.stored(path)?.version ?? 0;
    const body = await this.#shown(account, new KnownAccounts(tree, counts.keys()), counts);
    return { status, body, headers: ['ETag', `"${version}"`] };
  }

  #counts(): Promise<ReadonlyMap<string, number>> {
    return reading(this.#host.stores.keys.accountCounts(), this.#host.log);
  }

  async #shown(account: Account, known: KnownAccounts, counts: ReadonlyMap<string, number>): Promise<object> {
    const { stores, services, log } = this.#host;
    const now = services.clock.now();
    const { path, kind } = account;
    const raises = stores.accounts.raisesOf(path).filter(({ until }) => until > now);
    return accountObject(account, {
      stored: stores.accounts.stored(path),
      states: budgetStates(account, stores.ledgers.value, raises, now),
      raises,
      keys:
        kind === 'account' ? (counts.get(path) ?? 0) : await reading(stores.keys.count({ tag: path.slice(1) }), log),
      children: known.childrenOf(path),
    });
  }
}

interface AccountFilters {
  readonly path: string | undefined;
  readonly under: string | undefined;
  readonly depth: number | undefined;
  readonly q: string | undefined;
  readonly origin: (typeof ORIGINS)[number] | undefined;
}

function filtersIn(query: Query): AccountFilters {
  return {
    path: query.filter('path'),
    under: query.filter('under'),
    depth: query.integer('depth', 0),
    q: query.filter('q'),
    origin: query.oneOf('origin', ORIGINS),
  };
}

/** All that are given must hold. */
function isAsked({ path: own, origin: from, effective }: Account, asked: AccountFilters): boolean {
  const { path, under, depth, q, origin } = asked;
  if (path !== undefined && own !== path) return false;
  if (under !== undefined && !isWithin(own, under)) return false;
  if (depth !== undefined && depthBelow(own, under ?? ROOT) > depth) return false;
  if (origin !== undefined && from !== origin) return false;
  return q === undefined || [own, effective.title ?? ''].some((text) => lower(text).includes(lower(q)));
}

const depthBelow = (path: string, above: string): number => depthOf(path) - depthOf(above);

/** Letters A to Z alone. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

export function unknownAccount(id: string): GatewayError {
  return new GatewayError('resource_not_found', `there is no account ${JSON.stringify(id)}`);
}
