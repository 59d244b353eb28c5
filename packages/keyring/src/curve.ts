/** The curves of keys that sign for their owners, by the names of the wire. */
export const CURVES = ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'] as const;

export type Curve = (typeof CURVES)[number];
