// Typed data with random types and values, and EIP-7702 authorizations, as viem and ethers hash them.
import { type DynamicValue, hexText, intValue, type Namespaces, uintValue } from '@custos/server/policy';
import { hashAuthorization as hashAuthorizationWithEthers, TypedDataEncoder } from 'ethers';
import fc from 'fast-check';
import { getTypesForEIP712Domain, type Hex, hashTypedData, type TypedDataDefinition } from 'viem';
import { hashAuthorization } from 'viem/utils';
import { address, arrayOf, hexBytes, values } from './policy-facts-abi.ts';

type Types = Record<string, readonly { readonly name: string; readonly type: string }[]>;

/** A document as JSON carries it: integers are text, or numbers where these are exact. */
export interface TypedDocument {
  readonly types: Types;
  readonly primaryType: string;
  readonly domain?: Record<string, unknown>;
  readonly message: Record<string, unknown>;
}

const width = fc.integer({ min: 1, max: 32 });
const atomic = fc.oneof(
  width.map((bytes) => `uint${bytes * 8}`),
  width.map((bytes) => `int${bytes * 8}`),
  width.map((bytes) => `bytes${bytes}`),
  fc.constantFrom('address', 'bool', 'bytes', 'string'),
);
const memberType = fc
  .tuple(atomic, fc.array(fc.constantFrom('[]', '[2]'), { maxLength: 2 }))
  .map(([type, dimensions]) => type + dimensions.join(''));
const memberTypes = fc.array(memberType, { maxLength: 3 });
const membersOf = (types: readonly string[]) => types.map((type, index) => ({ name: `member_${index}`, type }));

/** Three structs, each in the one before it. */
const types = fc.tuple(memberTypes, memberTypes, memberTypes, fc.constantFrom('', '[]', '[1][]')).map(
  ([a, b, c, dimensions]): Types => ({
    Order: membersOf([...a, `Part${dimensions}`, 'Leaf']),
    Part: membersOf([...b, 'Leaf[]']),
    Leaf: membersOf([...c, 'uint256']),
  }),
);

function structValues(declared: Types, name: string): fc.Arbitrary<Record<string, unknown>> {
  const members = declared[name] ?? [];
  return fc.record(Object.fromEntries(members.map((member) => [member.name, memberValues(declared, member.type)])));
}

function memberValues(declared: Types, type: string): fc.Arbitrary<unknown> {
  const array = arrayOf({ type });
  if (array !== undefined) {
    const { element, length } = array;
    return fc.array(memberValues(declared, element.type), { minLength: length ?? 0, maxLength: length ?? 2 });
  }
  if (declared[type] !== undefined) return structValues(declared, type);
  return values({ type }).map((value) => {
    if (typeof value !== 'bigint') return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  });
}

const domain = fc.record(
  {
    name: fc.string({ unit: 'grapheme', maxLength: 20 }),
    // viem leaves an empty one out of a type that it has to make itself.
    version: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
    chainId: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    verifyingContract: address,
    salt: hexBytes({ minLength: 32, maxLength: 32 }),
  },
  { requiredKeys: [] },
);

export const typedDocument: fc.Arbitrary<TypedDocument> = fc
  .tuple(types, domain, fc.boolean())
  .chain(([declared, separated, explicit]) =>
    structValues(declared, 'Order').map((message) => ({
      types: explicit ? { EIP712Domain: getTypesForEIP712Domain({ domain: separated }), ...declared } : declared,
      primaryType: 'Order',
      domain: separated,
      message,
    })),
  );

/** The libraries check the case of addresses, which damage may have changed. */
export const parseLowerCase = (text: string): unknown =>
  JSON.parse(text.replace(/0x[0-9a-fA-F]{40}/g, (digits) => digits.toLowerCase()));

/** `eth.eip_712` of a document. */
export function typedDataFacts({
  types: declared,
  primaryType,
  domain: separated = {},
  message,
}: TypedDocument): Namespaces {
  const { name, version, chainId, verifyingContract } = separated;
  return {
    eth: {
      eip_712: {
        primary_type: primaryType,
        domain: {
          ...(name === undefined ? {} : { name: name as string }),
          ...(version === undefined ? {} : { version: version as string }),
          ...(chainId === undefined ? {} : { chain_id: BigInt(chainId as number) }),
          ...(verifyingContract === undefined
            ? {}
            : { verifying_contract: (verifyingContract as string).toLowerCase() }),
        },
        message: structFacts(declared, primaryType, message),
      },
    },
  };
}

const structFacts = (
  declared: Types,
  name: string,
  value: Record<string, unknown>,
): ReadonlyMap<string, DynamicValue> =>
  new Map(
    (declared[name] ?? []).map((member) => [member.name, memberFacts(declared, member.type, value[member.name])]),
  );

function memberFacts(declared: Types, type: string, value: unknown): DynamicValue {
  const array = arrayOf({ type });
  if (array !== undefined) return (value as unknown[]).map((one) => memberFacts(declared, array.element.type, one));
  if (declared[type] !== undefined) return structFacts(declared, type, value as Record<string, unknown>);
  if (type.startsWith('uint')) return uintValue(BigInt(value as string));
  if (type.startsWith('int')) return intValue(BigInt(value as string));
  if (type === 'bool') return value as boolean;
  return type === 'string' ? (value as string) : hexText((value as string).toLowerCase());
}

export const digestOfViem = (document: TypedDocument): string =>
  hashTypedData(document as unknown as TypedDataDefinition).slice(2);

export function digestOfEthers({ types: declared, domain: separated = {}, message }: TypedDocument): string {
  const { EIP712Domain: _, ...structs } = declared;
  return TypedDataEncoder.hash(separated, structs as never, message).slice(2);
}

export interface Authorization {
  readonly address: Hex;
  readonly chainId: number;
  readonly nonce: number;
}

export const authorization: fc.Arbitrary<Authorization> = fc.record({
  address,
  chainId: fc.integer({ min: 0, max: 2 ** 48 }),
  nonce: fc.integer({ min: 0, max: 2 ** 48 }),
});

export const authorizationFacts = (authorized: Authorization): Namespaces => ({
  eth: {
    eip_7702_authorization: {
      address: authorized.address.toLowerCase(),
      chain_id: BigInt(authorized.chainId),
      nonce: BigInt(authorized.nonce),
    },
  },
});

export const authorizationOfViem = (authorized: Authorization): string => hashAuthorization(authorized).slice(2);
export const authorizationOfEthers = (authorized: Authorization): string =>
  hashAuthorizationWithEthers(authorized).slice(2);
