import { verify } from 'node:crypto';
import type { Static } from 'typebox';
import { keyObject, verifyOnPool } from '../../authn/public-key.ts';
import { parseDerSignature } from '../../authn/stamp-headers.ts';
import { invalidField } from '../../lib/errors.ts';
import type { Deployment, ManifestApproval, Operator, OperatorSet } from './model.ts';
import type { ManifestApprovalParamsShape } from './shapes.ts';

const HEX = /^(?:[0-9a-f]{2})+$/i;
const RAW_BYTES = 64;

/** A signature that an operator of the set made of the manifest. */
export interface VerifiedApproval {
  readonly operatorId: Operator['id'];
  /** r and s, 64 bytes. */
  readonly signature: Uint8Array;
}

/** Whoever is no member of the manifest set, or did not sign these bytes, is refused (protocol/deployments 2.2). */
export async function verifyApprovals(
  { manifest }: Pick<Deployment, 'manifest'>,
  { operators }: OperatorSet,
  approvals: readonly Static<typeof ManifestApprovalParamsShape>[],
): Promise<VerifiedApproval[]> {
  const bytes = Buffer.from(manifest);
  const members = new Map<string, Operator>(operators.map((operator) => [operator.id, operator]));
  return await Promise.all(
    approvals.map(async ({ operatorId, signature }, index) => {
      const field = `parameters.approvals.${index}`;
      const operator = members.get(operatorId);
      if (operator === undefined) {
        throw invalidField(`${field}.operatorId`, 'must be an operator of the manifest set of the app');
      }
      const key = keyObject('P256', operator.signPublicKey);
      for (const candidate of readings(signature, `${field}.signature`)) {
        const isValid = await verifyOnPool('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, candidate);
        if (isValid) return { operatorId: operator.id, signature: candidate };
      }
      throw invalidField(`${field}.signature`, "must be a signature of the manifest by the operator's signing key");
    }),
  );
}

/** How many operators of the set have signed the manifest. Whatever else the database has among the approvals counts nothing. */
export function countGenuine(
  { manifest }: Pick<Deployment, 'manifest'>,
  { operators }: OperatorSet,
  approvals: readonly Pick<ManifestApproval, 'operatorId' | 'signature'>[],
): number {
  const bytes = Buffer.from(manifest);
  const keys = new Map<string, string>(operators.map(({ id, signPublicKey }) => [id, signPublicKey]));
  const genuine = approvals.filter(({ operatorId, signature }) => {
    const publicKey = keys.get(operatorId);
    if (publicKey === undefined) return false;
    return verify('sha256', bytes, { key: keyObject('P256', publicKey), dsaEncoding: 'ieee-p1363' }, signature);
  });
  return new Set(genuine.map(({ operatorId }) => operatorId)).size;
}

/** What a text can mean: r and s as they are, or DER, which can be as long. */
function readings(text: string, field: string): Uint8Array[] {
  const bytes = HEX.test(text) ? Buffer.from(text, 'hex') : undefined;
  const der = bytes && parseDerSignature(bytes);
  const found = [...(bytes?.length === RAW_BYTES ? [bytes] : []), ...(der === undefined ? [] : [der])];
  if (found.length === 0) {
    throw invalidField(field, 'must be hexadecimal: 64 bytes, r and s, or their DER form');
  }
  return found;
}
