// Names that the build and live.js define above the scripts of browser/roof/, which form one script.
declare const KERNELS: Record<"plain" | "fused", string>;
declare const WORKER: string;
declare function text(value: number, unit: string): string;
declare function percent(share: number): string;
declare function safe(text: string): string;
