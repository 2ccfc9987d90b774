import type { Problem } from '../../config/problems.ts';
import { referenceText } from '../../config/references.ts';
import type { Resolution, SecretFault, SecretLease } from '../secrets/secret-values.ts';
import { countRefresh } from './instance-figures.ts';
import type { OpenDeps, SecretPlan, SecretTexts } from './instance-plan.ts';

type Held = Pick<SecretLease, 'current' | 'end'>;

/** Secrets that are only of use together. Each is looked at until `end`. */
export class SecretSet {
  readonly #plans: readonly SecretPlan[];
  readonly #deps: OpenDeps;
  readonly #onChange: () => void;
  readonly #held = new Map<SecretPlan, Held>();
  #opening: Promise<unknown> | undefined;
  #isEnded = false;

  constructor(plans: readonly SecretPlan[], deps: OpenDeps, onChange: () => void) {
    this.#plans = plans;
    this.#deps = deps;
    this.#onChange = onChange;
  }

  /** Looks for all of them, once. Those that have no value are logged. */
  async open(): Promise<void> {
    await (this.#opening ??= Promise.all(this.#plans.map((plan) => this.#open(plan))));
  }

  /** All present values; `undefined` while one is missing. */
  get values(): SecretTexts | undefined {
    const values = new Map<string, string>();
    for (const plan of this.#plans) {
      const current = this.#held.get(plan)?.current;
      if (!current || 'reason' in current) return undefined;
      values.set(plan.key, current.value);
    }
    return values;
  }

  /** Those without a value (`WN17`). */
  get problems(): readonly Problem[] {
    return this.#plans.flatMap((plan) => {
      const current = this.#held.get(plan)?.current;
      return current && 'reason' in current ? [problemOf(plan, current.reason)] : [];
    });
  }

  end(): void {
    this.#isEnded = true;
    for (const held of this.#held.values()) held.end();
  }

  async #open(plan: SecretPlan): Promise<void> {
    const held = await this.#look(plan);
    this.#held.set(plan, held);
    if (this.#isEnded) held.end();
    if ('reason' in held.current && !this.#deps.isOffline)
      this.#deps.secrets.logUnresolved(plan.reference, plan.holder, held.current.reason);
  }

  async #look({ reference, form, holder }: SecretPlan): Promise<Held> {
    const { secrets, isOffline, services } = this.#deps;
    if (isOffline) return once(await secrets.resolve(reference, form));
    return secrets.lease(reference, {
      form,
      holder,
      onValue: this.#onChange,
      onFailure: () => {
        const { provider, credential = '' } = holder;
        countRefresh(services.counters, { provider, credential }, 'failed');
      },
    });
  }
}

const once = (current: Resolution): Held => ({ current, end: () => {} });

function problemOf({ reference, holder, path }: SecretPlan, reason: SecretFault): Problem {
  const whose = holder.header === undefined ? `credential "${holder.credential ?? ''}"` : `header "${holder.header}"`;
  return {
    path,
    rule: 'WN17',
    message: `the ${whose} of the provider "${holder.provider}" is not resolved: ${referenceText(reference)}: ${reason}`,
    fix: 'set the variable, or put the secret into the file',
  };
}
