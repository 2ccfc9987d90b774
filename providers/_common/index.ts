/** The public entry point `gw/common-wire`: the builder for providers that speak the clients' format. */
export { commonChat } from './chat.ts';
export type { CeilingStyle, ChatBody, ChatOptions } from './chat.ts';
export { commonTranslators } from './translators.ts';
export type { CommonOptions, CommonSurface } from './translators.ts';
