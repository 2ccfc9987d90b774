import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import type { Router } from 'express';
import { createRouter, directPosts } from '../../host/http/router.ts';
import { startHost } from '../kit/index.ts';

const answer: RequestListener = (_request, response) => {
  response.end();
};
const newRouter = (): Router => createRouter({ caseSensitive: true, strict: true });

function pathsOf(mount: (router: Router) => void): string[] {
  const router = newRouter();
  mount(router);
  return [...directPosts(router).keys()];
}

describe('what answers a POST without the router', () => {
  it('is the handler that the router would come to first', () => {
    const router = newRouter();
    router
      .route('/a')
      .post(answer)
      .all(() => {});
    router.route('/b/c').post(() => {});
    expect(directPosts(router).get('/a')).to.equal(answer);
    expect([...directPosts(router).keys()]).to.deep.equal(['/a', '/b/c']);
  });

  it('is nothing that may pass the request on', () => {
    expect(pathsOf((router) => router.route('/a').post((_request, _response, next) => next()))).to.deep.equal([]);
    expect(pathsOf((router) => router.route('/a').get(answer).post(answer))).to.deep.equal([]);
    expect(pathsOf((router) => router.route('/a').all(answer).post(answer))).to.deep.equal([]);
  });

  it('is nothing behind a layer that takes its path', () => {
    for (const first of ['/a', '/:name', '/*rest']) {
      expect(
        pathsOf((router) => {
          router.all(first, (_request, _response, next) => next());
          router.route('/a').post(answer);
        }),
        first,
      ).to.deep.equal([]);
    }
    expect(pathsOf((router) => router.use(answer).route('/a').post(answer))).to.deep.equal([]);
    expect(pathsOf((router) => router.all('/other/:name', answer).route('/a').post(answer))).to.deep.equal(['/a']);
  });

  it('has no parameter in its path', () => {
    expect(pathsOf((router) => router.route('/a/:name').post(answer))).to.deep.equal([]);
    expect(pathsOf((router) => router.route('/a/*rest').post(answer))).to.deep.equal([]);
  });

  it('is, of a gateway, every surface at a path of its own', async () => {
    const { host } = await startHost({ strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] });
    const router = newRouter();
    host.hooks.mount.call(router, host);
    expect([...directPosts(router).keys()]).to.include.members([
      '/v1/chat/completions',
      '/v1/completions',
      '/v1/embeddings',
      '/v1/messages',
      '/v1/audio/transcriptions',
      '/mcp',
    ]);
  });
});
