import type { ServiceStatus } from './shapes.ts';

declare module '../../engine/services.ts' {
  interface QueryServices {
    readonly serviceStatus: () => Promise<ServiceStatus>;
  }
}
