import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { App } from '../engine/app.ts';
import type { FeedStream } from '../engine/feed/feed.ts';
import { FEED_PATH, openFeed } from '../engine/feed/open-feed.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';
import { openPassage } from './admission.ts';
import { clientAddress } from './client-address.ts';
import { sendError, toApiError } from './errors.ts';
import { rawBody } from './raw-body.ts';

/** Lines that wait for a client before the feed waits for it too. */
const LINES_WAITING = 16;

/** What happens, line by line, for as long as the client stays (protocol/activities 9). */
export function addFeed(server: FastifyInstance, app: App): void {
  // Before the server waits for its connections, which streams would keep busy.
  server.addHook('preClose', (done) => {
    app.feed.stop();
    done();
  });
  server.post(FEED_PATH, { bodyLimit: LIMITS.defaultBodyBytes }, async (request, reply) => {
    const startedAt = performance.now();
    let code: ErrorCode | 'OK' = 'OK';
    const passage = openPassage(app, request.raw, reply.raw);
    try {
      const body = rawBody(request);
      const turn = passage.enter(body.length);
      if (turn !== undefined) await turn;
      const stream = await openFeed(app, {
        body,
        headers: request.headers,
        clientAddress: clientAddress(request.socket.remoteAddress, request.headers, app.config.trustedProxies),
        passage,
      });
      stream.onStuck(() => reply.raw.destroy());
      reply.raw.once('close', () => stream.close());
      if (reply.raw.destroyed) stream.close();
      reply
        .header('content-type', 'application/x-ndjson; charset=utf-8')
        .header('cache-control', 'no-store')
        // Proxies that gather answers before they hand them on would hold back what is to be told at once.
        .header('x-accel-buffering', 'no')
        .send(Readable.from(linesOf(stream), { objectMode: true, highWaterMark: LINES_WAITING }));
    } catch (thrown) {
      const error = toApiError(app, 'feed', thrown);
      code = error.code;
      sendError(app, reply, error);
    } finally {
      // A stream that is open takes the turn of nobody.
      passage.end();
    }
    app.observe.request('feed', code, performance.now() - startedAt);
    return reply;
  });
}

async function* linesOf({ lines }: FeedStream): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
