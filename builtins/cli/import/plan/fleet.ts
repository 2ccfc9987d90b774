import type { Variables } from '../variables.ts';
import type { Plan } from './plan.ts';
import type { PlannedInstance } from './planned.ts';

/** What the parts of a document with `providers` are made with. */
export interface Fleet {
  readonly plan: Plan;
  readonly variables: Variables;
  /** The value of a variable where the import runs. */
  readonly lookUp: (name: string) => string | undefined;
  readonly nameOf: (instance: PlannedInstance) => string;
}
