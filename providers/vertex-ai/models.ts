/** The model's name without publisher and collection. See docs/providers.md#what-differs. */
export function modelName(model: string): string {
  return model.replace(/^publishers\/google\/models\//, '').replace(/^models\//, '');
}

/** The name the compatible endpoint takes: with its publisher, Google's own unless said. */
export function publishedName(model: string): string {
  const name = modelName(model);
  return name.includes('/') ? name : `google/${name}`;
}

/** The name the publisher's own methods take. */
export const ownName = (model: string): string => modelName(model).replace(/^google\//, '');

/** The name of a Claude model without publisher and collection: `claude-sonnet-4-5@20250929`. */
export const claudeName = (model: string): string => model.replace(/^(publishers\/)?anthropic\/(models\/)?/, '');
