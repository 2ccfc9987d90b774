/** What may be looked for, as operators name it. */
export const ENTITIES = ['email', 'phone', 'card', 'iban', 'ip', 'national_id'] as const;

export type Entity = (typeof ENTITIES)[number];
