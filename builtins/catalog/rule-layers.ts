import { type Log, parseJson } from '../../host/contract/index.ts';
import { readOverlay } from './load.ts';
import { layered, NO_RULES, type RuleSet } from './model-rules.ts';
import { readRules, type ReadRules } from './read-rules.ts';

/** Most lines about rules that are not used; then a count. */
const MOST_LINES = 20;

/** Rules of models by where they come from: what ships with this build, what was fetched, the operator's own. Later ones win. */
export class RuleLayers {
  readonly #log: Log;
  #shipped: RuleSet = NO_RULES;
  #fetched: RuleSet = NO_RULES;
  #own: RuleSet = NO_RULES;
  #text: string | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  get all(): RuleSet {
    return layered(this.#shipped, this.#fetched, this.#own);
  }

  /** Whether there are others than those of this build. */
  get hasMore(): boolean {
    return this.#fetched !== NO_RULES || this.#own !== NO_RULES;
  }

  ship(rules: RuleSet): void {
    this.#shipped = rules;
  }

  /** Takes a fetched file; `false` where it is the one that is known already. Throws for what is not a file of rules. */
  take(text: string, from: object): boolean {
    if (text === this.#text) return false;
    this.#fetched = this.#read(parseJson(text), from);
    this.#text = text;
    return true;
  }

  async open(path: string): Promise<void> {
    try {
      this.#own = this.#read(await readOverlay(path), { path });
    } catch (error) {
      this.#log.error('the overlay of model rules is not used', { path, error });
    }
  }

  #read(document: unknown, from: object): RuleSet {
    const read = readRules(document);
    const problems = problemsOf(read);
    for (const line of problems.slice(0, MOST_LINES)) this.#log.warn(line, { ...from, rule: 'WN60' });
    if (problems.length > MOST_LINES)
      this.#log.warn(`${problems.length - MOST_LINES} more lines about model rules are left out`, {
        ...from,
        rule: 'WN60',
      });
    this.#log.info('model rules loaded', { ...from, rules: read.rules.length });
    return read;
  }
}

/** What is wrong with rules, a line each: those that are left out, and facts that this gateway does not know. */
export const problemsOf = ({ leftOut, unknown }: ReadRules): readonly string[] => [...leftOut, ...unknown];
