import type { ParamTreatments, TranslatedSurface, Translators } from 'gw/contract';
import { type ChatOptions, commonChat } from './chat.ts';

export interface CommonOptions {
  readonly chat?: ChatOptions;
}

/** Surfaces the common wire has a translator for. */
export type CommonSurface = Extract<TranslatedSurface, 'chat'>;

/** Translators of the common wire for the surfaces a provider serves. */
export function commonTranslators(surfaces: readonly CommonSurface[], params: ParamTreatments, options: CommonOptions = {}): Translators {
  const all: Record<CommonSurface, () => Translators> = {
    chat: () => ({ chat: commonChat(params, options.chat) }),
  };
  return Object.assign({}, ...surfaces.map((surface) => all[surface]())) as Translators;
}
