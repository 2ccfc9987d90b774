/** Every view that an address opens. */
export const PAGES_OF_APPLICATION: readonly string[] = [
  '/getting-started', '/overview', '/analytics', '/tracing', '/logs', '/audit', '/providers', '/providers?tab=capabilities', '/routing', '/routing?tab=explain', '/plugins', '/plugins?tab=coverage', '/playground', '/playground?tab=embeddings', '/playground?tab=images',
  '/mcp-servers', '/configuration', '/configuration?tab=form', '/configuration?tab=history', '/keys', '/keys?tab=sessions',
];
