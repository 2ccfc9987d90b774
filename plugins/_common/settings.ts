import Joi from 'joi';

/** What every guardrail that reads answers may be set to. */
export interface StreamSettings {
  observe: boolean;
  stream: 'end' | 'window' | 'record';
}

export const observe = Joi.boolean().default(false).description('serve what would be refused, and log the reason');

/** The setting `observe` of a plugin that may also mask. */
export const observeMasks = observe.description('serve everything as it is, and log the reason');

export const stream = Joi.string()
  .valid('end', 'window', 'record')
  .default('end')
  .description(
    'a refusal of a streamed answer: `end` breaks it off, `window` holds back what may match, `record` only logs',
  );

/** The setting `stream` of a plugin that judges an answer once it is whole. */
export const streamWhole = stream.description(
  'a refusal of a streamed answer: `end` breaks it off, `window` holds back all of it, `record` only logs',
);
