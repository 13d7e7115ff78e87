// Names that the build defines above browser/roof/roof.js, and the figure sets.
declare const KERNELS: Record<"plain" | "fused", string>;
declare let text: (value: number, unit: string) => string;
declare let percent: (share: number) => string;
