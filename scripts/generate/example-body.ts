import type { operations } from '@custos/server/registry';
import { isRequired, type SchemaNode, toNode } from './schema.ts';

type Operation = (typeof operations)[number];

const ORGANIZATION_ID = '0195d1f0-7b3a-7c4e-9d2b-3f5a6c7d8e9f';
const TIMESTAMP_MS = '1767225600000';

/** Values that read better, or mean more, than what a schema alone can suggest. */
const VALUES: Readonly<Record<string, unknown>> = {
  address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  activityId: '0195d1f0-91c2-7a05-8a6e-0c1d2e3f4a5b',
  apiKeyName: 'Laptop',
  attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YV…',
  authenticatorName: 'Phone',
  challenge: 'n2J5Y3hHd0t4VnVQZ1FzS3ZqY1RqZw',
  clientDataJson: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoi…',
  credentialId: '6kHtPPqRTKaLms_L0xFKpw',
  encryptedBundle: '{"encappedPublic":"04…","ciphertext":"…"}',
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
  limit: '10',
  newPrivateKeyTagName: 'Cold',
  newUserTagName: 'Approvers',
  organizationId: ORGANIZATION_ID,
  organizationName: 'Treasury',
  path: "m/44'/60'/0'/0/0",
  payload: 'Hello',
  privateKeyName: 'Treasury key',
  privateKeyTagName: 'Cold',
  publicKey: '02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc',
  receiverUserEmail: 'bob@example.com',
  receiverUserName: 'Bob',
  rootQuorumThreshold: 1,
  signWith: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  subOrganizationName: 'End user 42',
  targetPublicKey: '02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc',
  threshold: 1,
  unsignedTransaction: '02e70180843b9aca008477359400825208949858effd232b4033e47d90003d41ec34ecaeda940180c0',
  userEmail: 'alice@example.com',
  userName: 'Alice',
  userPhoneNumber: '+14155550123',
  userTagName: 'Approvers',
  value: 'true',
  walletName: 'Treasury',
};

/** A body that the operation accepts; throws if it does not, so that no page shows one that fails. */
export function exampleBody(operation: Operation): unknown {
  if (operation.kind === 'query') {
    const body = exampleOf(toNode(operation.schema), ['paginationOptions', 'limit']);
    operation.decode(body);
    return body;
  }
  const [version] = operation.kind === 'activity' ? operation.versions : [operation];
  if (version === undefined) throw new Error(`${operation.name} has no version`);
  const parameters = exampleOf(toNode(version.schema), ['apiKeys']);
  version.decode(parameters);
  return { type: version.type, timestampMs: TIMESTAMP_MS, organizationId: ORGANIZATION_ID, parameters };
}

/** Required fields, and the optional ones and optional list items that `wanted` names. */
function exampleOf(node: SchemaNode, wanted: readonly string[], name = ''): unknown {
  if (Object.hasOwn(VALUES, name)) return VALUES[name];
  if (node.enum !== undefined) return node.enum[0];
  switch (node.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(node.properties ?? {})
          .filter(([key]) => isRequired(node, key) || wanted.includes(key))
          .map(([key, property]) => [key, exampleOf(toNode(property), wanted, key)]),
      );
    case 'array': {
      const isEmpty = (node.minItems ?? 0) === 0 && !wanted.includes(name);
      return isEmpty ? [] : [exampleOf(toNode(node.items ?? {}), wanted, name.replace(/s$/, ''))];
    }
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return node.minimum ?? 1;
    default:
      return exampleText(node, name);
  }
}

function exampleText(node: SchemaNode, name: string): string {
  if (node.pattern?.startsWith('^sha256:')) return `sha256:${'0123456789abcdef'.repeat(4)}`;
  if (/Ids?$/.test(name)) return '0195d1f0-8e11-7f3c-b0a4-5d6e7f8091a2';
  if (node['x-decimal']) return '3600';
  return 'text';
}
