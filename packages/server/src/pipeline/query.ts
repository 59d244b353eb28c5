import { issuersFor } from '../identity/known-issuers.ts';
import { tokensFor } from '../identity/tokens.ts';
import type { QueryOperation } from '../operations/define.ts';
import type { SimulationRequest } from '../operations/policies/simulation.ts';
import type { ActivityWithVotes } from '../storage/stores/activities.ts';
import { renderActivity } from '../wire/activity.ts';
import { admit } from './admit.ts';
import type { App } from './app.ts';
import { readerFor } from './ballot.ts';
import { withKeyringErrors } from './keyring-errors.ts';
import { parseQueryBody, type RawRequest } from './request.ts';
import { revealResult } from './secret-result.ts';
import { simulate } from './simulate.ts';

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
    tokens: tokensFor(app.tokens, issuersFor(app.storage.read, actor)),
    onRamp: app.onRamp,
    nodes: app.nodes,
    earn: app.earn,
    expressions: app.rulebooks.expressions,
    simulate: (wish: SimulationRequest) => simulate(app, actor, wish, nowMs),
  };
  return await withKeyringErrors(() => operation.run(context, parameters));
}
