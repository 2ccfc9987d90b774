/** One careless author's module: where it stands, what it does, and what the gateway must say of it. */
export interface BadModule {
  readonly file: string;
  readonly does: string;
  readonly source: string;
  /** Pieces of one line of the report that speaks of it; several lines, several lists. */
  readonly says: readonly (readonly string[])[];
  /** Number of lines about it; as many as `says` has unless said. */
  readonly lines?: number;
  /** Lines below, with the code. */
  readonly shows?: string;
}

const HEAD =
  "import Joi from 'joi';\nimport { definePlugin, defineProvider, defineStrategy, bearer } from 'gw/contract';\nimport { commonTranslators } from 'gw/common-wire';\n";

/** A plugin that is as it should be but for these fields. */
export const plugin = (name: string, fields: string, before = ''): string => `${HEAD}${before}
export default definePlugin({ name: '${name}', type: 'guardrail', summary: 's', stages: ['before_request'], settings: Joi.object({}), create: () => ({ before_request() {} }), ${fields} } as never);
`;

export const strategy = (name: string, fields: string): string => `${HEAD}
export default defineStrategy({ name: '${name}', summary: 's', settings: Joi.object({}), create: () => (targets) => targets, ${fields} } as never);
`;

export const provider = (name: string, fields: string, connection = ''): string => `${HEAD}
export default defineProvider({
  name: '${name}', wire: 'common', params: {}, translators: commonTranslators(['chat'], {}),
  connection: { env: ['ACME_API_KEY'], baseUrl: 'https://acme.test/v1', authorize: bearer('ACME_API_KEY'), ${connection} }, ${fields}
} as never);
`;
