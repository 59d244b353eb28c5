import type { FastifyInstance } from 'fastify';
import { invitationCalls } from '../domains/organizations/invitations/calls.ts';
import { answerInvited } from '../domains/organizations/invitations/desk.ts';
import { INVITATION_PATH } from '../domains/organizations/invitations/link.ts';
import type { App } from '../engine/app.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { openPassage } from './admission.ts';
import { clientAddress } from './client-address.ts';
import { sendError, toApiError } from './errors.ts';
import { INVITATION_PAGE_POLICY, invitationPage } from './invitation-page.ts';
import { rawBody } from './raw-body.ts';

/** The page that a link leads to, and the two calls that it makes. */
export function addInvitations(server: FastifyInstance, app: App): void {
  server.get(INVITATION_PATH, (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .header('content-security-policy', INVITATION_PAGE_POLICY)
      .header('referrer-policy', 'no-referrer')
      .header('x-content-type-options', 'nosniff')
      .header('cross-origin-opener-policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .send(invitationPage(app.config)),
  );
  for (const call of invitationCalls) {
    server.post(call.path, { bodyLimit: call.bodyLimit }, async (request, reply) => {
      const startedAt = performance.now();
      let code: ErrorCode | 'OK' = 'OK';
      const passage = openPassage(app, request.raw, reply.raw);
      try {
        const answer = await answerInvited(app, call, {
          body: rawBody(request),
          clientAddress: clientAddress(request.socket.remoteAddress, request.headers, app.config.trustedProxies),
          passage,
        });
        reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer));
      } catch (thrown) {
        const error = toApiError(app, call.name, thrown);
        code = error.code;
        sendError(app, reply, error);
      } finally {
        passage.end();
      }
      app.observe.request(call.name, code, performance.now() - startedAt);
      return reply;
    });
  }
}
