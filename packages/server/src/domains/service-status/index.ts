import type { Domain } from '../../engine/domain.ts';
import { getOperations } from './operations/get-operations.ts';

export const serviceStatus: Domain = { name: 'service-status', operations: [getOperations] };
