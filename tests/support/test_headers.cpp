// SPDX-License-Identifier: Apache-2.0

// An empty program whose precompiled headers all tests share.
int main() { return 0; }
