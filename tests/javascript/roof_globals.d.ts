// Names that the build and the figures' script define above browser/roof/roof.js.
declare const KERNELS: Record<"plain" | "fused", string>;
declare function text(value: number, unit: string): string;
declare function percent(share: number): string;
