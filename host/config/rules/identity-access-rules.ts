import { pathProblem } from '../../common/accounts/account-path.ts';
import { isFields } from '../../contract/index.ts';
import type { GatewayConfig } from '../document.ts';
import { claimsOfPublic, EXACT_CLAIMS } from './public-issuers.ts';
import type { RuleContext } from './rule.ts';

type IssuerConfig = NonNullable<NonNullable<GatewayConfig['identity']>['issuers']>[number];
export type AccessConfig = NonNullable<IssuerConfig['access']>[number];
type Report = RuleContext['report'];

const MOST_RULES = 200;
const MOST_MICRO_USD_DIGITS = /^\d+(?:\.\d{1,6})?$/;

/** What a rule asks of one claim, as texts: the patterns of which one must match. `undefined` where a value is none. */
export function patternsOf(value: unknown): readonly string[] | undefined {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.map((each) => (Number.isSafeInteger(each) ? String(each) : each));
  const isRight = texts.length > 0 && texts.every((each) => typeof each === 'string' && each !== '');
  return isRight ? (texts as readonly string[]) : undefined;
}

export const hasStar = (pattern: string): boolean => pattern.endsWith('*');

/** What is checked of the rules of one issuer, by the id of the check. */
export const accessRuleChecks: readonly {
  readonly id: string;
  readonly check: (issuer: IssuerConfig, path: string, report: Report) => void;
}[] = [
  { id: 'CV95', check: checkWhen },
  {
    id: 'CV96',
    check: eachRule((rule, path, report) => {
      const { scopes, access } = rule;
      if ((scopes === undefined) === (access === undefined))
        report(
          path,
          'a rule gives either scopes or access',
          'write scopes: [admin], scopes: [read_only] or access: inference',
        );
      else if (scopes && (scopes.length !== 1 || !['admin', 'read_only'].includes(scopes[0] ?? '')))
        report(`${path}.scopes`, 'scopes is not [admin] or [read_only]', 'write one of them');
      else if (access !== undefined && access !== 'inference')
        report(`${path}.access`, `access is "${access}"`, 'write inference, or scopes in its place');
    }),
  },
  { id: 'CV98', check: checkPublic },
  { id: 'CV99', check: eachRule(checkGrant) },
];

function eachRule(check: (rule: AccessConfig, path: string, report: Report) => void) {
  return ({ access = [] }: IssuerConfig, path: string, report: Report): void =>
    access.forEach((rule, at) => check(rule, `${path}.access[${at}]`, report));
}

function checkWhen(issuer: IssuerConfig, path: string, report: Report): void {
  const { access = [] } = issuer;
  if (access.length === 0 || access.length > MOST_RULES)
    report(
      `${path}.access`,
      access.length === 0
        ? 'no rule is listed: no token would count'
        : `${access.length} rules are listed, the limit is ${MOST_RULES}`,
      `list 1 to ${MOST_RULES}`,
    );
  eachRule(checkEntries)(issuer, path, report);
}

function checkEntries({ when = {}, account = '' }: AccessConfig, path: string, report: Report): void {
  const entries = Object.entries(when);
  if (entries.length === 0) report(`${path}.when`, 'the rule is for everybody', 'name at least one claim');
  for (const [claim, value] of entries) {
    const patterns = patternsOf(value);
    const at = `${path}.when.${claim}`;
    if (claim === '') report(`${path}.when`, 'a claim has no name', 'name it');
    if (!patterns)
      report(at, 'it holds neither a text nor a list of texts', 'write texts; booleans in quotation marks');
    for (const pattern of patterns ?? [])
      if (pattern === '*' || pattern.slice(0, -1).includes('*'))
        report(
          at,
          `"${pattern}" has its star in another place than behind a beginning`,
          'write a value, or the beginning of one and a * at its end',
        );
  }
  const starred = entries.filter(([, value]) => patternsOf(value)?.some(hasStar)).length;
  if (account.includes('$1') && starred !== 1)
    report(
      `${path}.account`,
      '$1 stands for the * of one claim',
      'write a * at the end of the texts of exactly one claim',
    );
}

function checkPublic({ issuer = '', access = [] }: IssuerConfig, path: string, report: Report): void {
  const claims = claimsOfPublic(issuer);
  if (!claims) return;
  access.forEach(({ when }, at) => {
    const named = isFields(when) ? claims.filter((claim) => Object.hasOwn(when, claim)) : [];
    const isBound = named.some((claim) => !EXACT_CLAIMS.has(claim) || !(patternsOf(when?.[claim]) ?? []).some(hasStar));
    if (!isBound)
      report(
        `${path}.access[${at}].when`,
        'everybody can get a token of this issuer, and the rule does not say whose count',
        `name one of ${claims.join(', ')}; sub, oid and email without a star`,
      );
  });
}

function checkGrant({ account, limits = {} }: AccessConfig, path: string, report: Report): void {
  const problem = account === undefined ? undefined : accountProblem(account);
  if (problem !== undefined) report(`${path}.account`, problem, 'write a path such as /acme/search');
  for (const name of ['models', 'providers', 'mcp_tools', 'tags'] as const)
    if (limits[name]?.some((each) => each.trim() === ''))
      report(`${path}.limits.${name}`, `${name} holds an empty entry`, 'remove it');
  for (const name of ['rpm', 'tpm'] as const) {
    const value = limits[name];
    if (value !== undefined && (value < 1 || value > 2 ** 31 - 1))
      report(`${path}.limits.${name}`, `${name} is ${value}`, 'write 1 to 2147483647');
  }
  const { budget_usd: budget } = limits;
  if (budget !== undefined && (budget > 1e9 || !MOST_MICRO_USD_DIGITS.test(String(budget))))
    report(`${path}.limits.budget_usd`, `budget_usd is ${budget}`, 'write dollars from 0, with at most six decimals');
}

function accountProblem(account: string): string | undefined {
  if (!account.startsWith('/')) return `"${account}" is not the path of an account`;
  return pathProblem(account.replaceAll('$1', 'x'));
}
