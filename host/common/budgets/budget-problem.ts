/** A budget, or a member of what has budgets, that cannot be read. The message names the member by its path. */
export class BudgetProblem extends Error {
  override readonly name = 'BudgetProblem';
  /** The rule of configurations that it breaks. */
  readonly rule: string;

  constructor(rule: string, message: string) {
    super(message);
    this.rule = rule;
  }
}
