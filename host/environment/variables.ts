/** The environment variables of this process, or what a test puts in their place. */
export type Variables = Readonly<Record<string, string | undefined>>;
