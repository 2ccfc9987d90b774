/** A finding about an environment variable: `fatal` ones stop the start. */
export interface SettingNote {
  readonly level: 'warn' | 'fatal';
  readonly message: string;
  /** Id of the warning (docs/configuration.md#warnings), where it has one. */
  readonly rule?: string;
}
