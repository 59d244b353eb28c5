import type { Authenticated, StampEvidence } from '../authn/stamped.ts';
import { type Actor, sessionProfileIdOf } from '../core/actor.ts';
import type { Activity, Vote, VoteSelection } from '../core/model.ts';
import { redactJson } from '../lib/strict-json.ts';
import type { App } from './app.ts';
import { approvalOf } from './evidence.ts';
import type { Reader, WireActivity } from './render-activity.ts';
import type { RawRequest, SubmitBody } from './request.ts';

/** A submit request whose stamp has been parsed and whose envelope has been checked. */
export interface Submission {
  readonly request: RawRequest;
  readonly body: SubmitBody;
}

export type ActivityAnswer = { readonly activity: WireActivity };

export const readerFor = (app: App, actor: Actor, nowMs: number): Reader => ({
  organization: actor.home,
  userId: actor.userId,
  nowMs,
  vendorNames: app.config.vendorNames,
  keysOf: (type) => app.operations.wireKeys(type),
});

/**
 * The signed body as it may rest: its secrets, which are parameters, are replaced by digests (protocol/activities 5.2).
 */
export function keptText(request: RawRequest, secrets: readonly string[]): string {
  const { buffer, byteOffset, byteLength } = request.body;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  const paths = secrets.map((path) => `parameters.${path}`);
  return paths.length === 0 ? text : redactJson(text, paths);
}

interface VoteDraft {
  readonly activity: Activity;
  readonly selection: VoteSelection;
  /** Parameters of the signed body that never rest in the clear. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
}

/**
 * A vote with the bytes that were signed; where they are the activity's own, it has them already (docs/decisions/0033).
 */
export async function draftVote(
  app: App,
  { actor, evidence }: Authenticated,
  { request, body }: Submission,
  { activity, selection, secrets, nowMs }: VoteDraft,
): Promise<Vote> {
  const { publicKey, signature, scheme, credentialId, webauthn } = evidence as StampEvidence;
  const id = app.newId<'vote'>();
  const own = body.fingerprint === activity.fingerprint ? activity.body : undefined;
  const { credentialKind, credentialType, sessionProfileId } = stampedWith(actor);
  return {
    id,
    activityId: activity.id,
    userId: actor.userId,
    selection,
    messageDigest: body.fingerprint,
    message: own ?? keptText(request, secrets),
    sealedMessage:
      secrets.length === 0 || own !== undefined
        ? undefined
        : await app.keyring.seal(
            actor.organization.wrappedKey,
            { organizationId: actor.organizationId, ownerId: id, kind: 'vote-message' },
            request.body,
          ),
    publicKey,
    signature,
    scheme,
    credentialId,
    webauthn,
    userSnapshot: await app.userRecords.get(app.storage.read, actor.homeId, actor.user),
    counts: true,
    roundStartedAtMs: activity.roundStartedAtMs,
    createdAtMs: nowMs,
    homeId: actor.homeId,
    sourceAddress: request.clientAddress,
    revoked: false,
    credentialKind,
    credentialType,
    sessionProfileId,
  };
}

/** What a vote keeps of the credential that stamped it, which may be gone when the vote is counted. */
function stampedWith(actor: Actor): Pick<Vote, 'credentialKind' | 'credentialType' | 'sessionProfileId'> {
  const { kind } = actor.credential;
  if (kind === 'read-session') throw new Error('a read-only session votes for nothing');
  return {
    credentialKind: kind,
    credentialType: approvalOf(actor).credential.type,
    sessionProfileId: sessionProfileIdOf(actor),
  };
}
