import Type from 'typebox';
import { textShape } from '../../lib/shapes.ts';

/** A P-256 point in hex; bundles are encrypted to it. */
export const TargetPublicKeyShape = textShape(512);

export const EncryptedBundleShape = textShape(262_144);

export const EncryptionSuiteShape = Type.Enum(['TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1']);
