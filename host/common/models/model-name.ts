/** The name of a model as patterns know it: in lower case, without collection, owner, date behind an at sign, and what a fine-tuned model adds to its base. */
export function bareModelName(model: string): string {
  const name = model.toLowerCase();
  const base = name.startsWith('ft:') ? (name.split(':')[1] ?? '') : name;
  const [undated = ''] = base.slice(base.lastIndexOf('/') + 1).split('@');
  return undated;
}
