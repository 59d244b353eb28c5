import { addressDerivationPayload, policyOutcomePayload } from '@custos/keyring';
import { approvers } from '../activities/rounds.ts';
import type { Actor } from '../lib/actor.ts';
import { sha256Hex } from '../lib/encoding.ts';
import type { Activity, AppProof, Organization, Vote } from '../lib/model.ts';
import type { NewAddress } from '../operations/define.ts';
import type { App } from './app.ts';

/**
 * The proofs of an allowed activity (protocol/bundles 6): the outcome of the decision always, and the derivation of
 * each new address. Digests are over JSON with the fields in the order written here; docs/guides/app-proofs.md tells
 * the same.
 */
export async function makeProofs(
  app: App,
  { organization }: Actor,
  activity: Activity,
  votes: readonly Vote[],
  addresses: readonly NewAddress[],
  nowMs: number,
): Promise<AppProof[]> {
  const parent = organization.parentId && (await app.storage.read.organizations.get(organization.parentId));
  const outcome = policyOutcomePayload(nowMs, {
    organizationId: organization.id,
    outcome: 'OUTCOME_ALLOW',
    decisionContextDigest: digestOf({
      type: activity.type,
      fingerprint: activity.fingerprint,
      approvers: approvers(votes),
    }),
    organizationDataDigest: organizationDigest(organization),
    parentOrganizationDataDigest: parent ? organizationDigest(parent) : '',
    userRequestApprovals: votes
      .filter((vote) => vote.selection === 'VOTE_SELECTION_APPROVED')
      .map(({ userId, publicKey, signature, scheme, messageDigest }) => ({
        userId,
        publicKey,
        signature,
        scheme,
        messageDigest,
      })),
  });
  const derivations = addresses.map((address) =>
    addressDerivationPayload(nowMs, { organizationId: organization.id, ...address }),
  );
  return await Promise.all([outcome, ...derivations].map((payload) => app.keyring.signAppProof(payload)));
}

/** Only what members of the organization can read, so that they can compute it too. */
const organizationDigest = ({ id, rootThreshold, rootUserIds }: Organization): string =>
  digestOf({ id, rootThreshold, rootUserIds });

const digestOf = (value: unknown): string => sha256Hex(JSON.stringify(value));
