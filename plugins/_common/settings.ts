import Joi from 'joi';

/** What every guardrail that reads answers may be set to. */
export interface StreamSettings {
  observe: boolean;
  stream: 'end' | 'window' | 'record';
}

export const observe = Joi.boolean().default(false);
export const stream = Joi.string().valid('end', 'window', 'record').default('end');
