import { issuersFor } from '../authn/identity/known-issuers.ts';
import { tokensFor } from '../authn/identity/tokens.ts';
import type { Actor } from '../core/actor.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import { KeptAnswers } from '../core/store/kept-answers.ts';
import type { DescribeRequests } from '../describe/requests.ts';
import { jsonInPieces, PrintedAnswer } from '../lib/json-in-pieces.ts';
import { admit } from './admit.ts';
import type { App } from './app.ts';
import type { QueryOperation } from './define.ts';
import { describeRequests } from './describe-requests.ts';
import { withKeyringErrors } from './keyring-errors.ts';
import { rehearseVote } from './rehearse-vote.ts';
import { renderActivity } from './render-activity.ts';
import { parseQueryBody, type RawRequest } from './request.ts';
import { revealResult } from './secret-result.ts';
import { readerFor } from './vote-draft.ts';

/** admit, parse, read: queries change nothing, and no policy governs them (protocol/activities 3.5). */
export async function query(app: App, operation: QueryOperation, request: RawRequest): Promise<unknown> {
  const { fields, organizationId } = parseQueryBody(request.body);
  const { actor } = await admit(app, request, {
    organizationId,
    fingerprint: undefined,
    findsSubOrganization: operation.findsSubOrganization,
    acceptsAttested: false,
    acceptsRecovery: false,
    waitsOutside: operation.waitsOutside,
  });
  const { madeOf } = operation;
  if (madeOf.length === 0) return await run(app, operation, actor, fields);
  const { organizationId: answering } = actor;
  const pieces = await app.storage
    .read(KeptAnswers)
    .get({ operation: operation.name, organizationId: answering, body: request.body, madeOf }, async () =>
      jsonInPieces(await run(app, operation, actor, fields)),
    );
  return new PrintedAnswer(pieces);
}

async function run(app: App, operation: QueryOperation, actor: Actor, fields: unknown): Promise<unknown> {
  const parameters = operation.decode(fields);
  const nowMs = app.clock();
  const reader = readerFor(app, actor, nowMs);
  const context = {
    actor,
    read: app.storage.read,
    nowMs,
    config: app.config,
    renderActivity: (found: ActivityWithVotes) => renderActivity(found, reader),
    revealResult: (found: ActivityWithVotes) => revealResult(app, actor, found, nowMs),
    rehearseVote: (found: ActivityWithVotes) => rehearseVote(app, actor, found, nowMs),
    describeRequests: (...asked: Parameters<DescribeRequests>) => describeRequests(app, ...asked),
    tokens: tokensFor(app.tokens, issuersFor(app.storage.read, actor)),
    nodes: app.nodes,
    expressions: app.accessRules.expressions,
    // Last: an object that begins as a copy and then grows is made fifty times slower.
    ...app.services.query,
  };
  return await withKeyringErrors(() => operation.run(context, parameters));
}
