// SPDX-License-Identifier: Apache-2.0
#include "sources/container.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttmem::sources {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kOuter(64, 'e');
const std::string kUid = "2c48913c-b29f-11e7-9350-020968147796";
const std::string kUidOfSystemd = "2c48913c_b29f_11e7_9350_020968147796";
const std::string kStaticUid = "0123456789abcdef0123456789abcdef";

struct Case {
    std::string fact;
    std::string cgroup;
    std::string runtime;
    std::optional<std::string> pod = {};
};

TEST(Container, IsKnownByTheNamesThatRuntimesGiveControlGroups) {
    const std::string user = "/user.slice/user-1000.slice/user@1000.service/user.slice/";
    const std::vector<Case> cases = {
        {"docker, systemd", "0::/system.slice/docker-" + kId + ".scope\n", "docker"},
        {"docker, cgroupfs", "0::/docker/" + kId + "\n", "docker"},
        {"docker, init inside", "0::/system.slice/docker-" + kId + ".scope/init\n", "docker"},
        {"docker, v1", "12:pids:/docker/" + kId + "\n11:cpu,cpuacct:/docker/" + kId + "\n", "docker"},
        {"docker, known to one of v1's trees", "0::/\n9:name=systemd:/\n4:memory:/docker/" + kId + "\n",
         "docker"},
        {"docker, a child of ours", "0::/../docker-" + kId + ".scope", "docker"},
        {"containerd by nerdctl", "0::/system.slice/nerdctl-" + kId + ".scope\n", "containerd"},
        {"containerd", "0::/system.slice/cri-containerd-" + kId + ".scope\n", "containerd"},
        {"podman", "0::/machine.slice/libpod-" + kId + ".scope/container\n", "podman"},
        {"podman, rootless", "0::" + user + "libpod-" + kId + ".scope/container\n", "podman"},
        {"podman, cgroupfs", "0::/libpod_parent/libpod-" + kId + "\n", "podman"},
        {"podman, split", "0::" + user + "x.service/libpod-payload-" + kId + "\n", "podman"},
        {"cri-o", "0::/machine.slice/crio-" + kId + ".scope\n", "cri-o"},
        {"somebody's", "0::/garden/" + kId + "\n", ""},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(container_of(c.cgroup), (census::Container{c.runtime, kId, c.pod})) << c.fact;
    }
}

TEST(Container, OfKubernetesKnowsItsPodWithDashesHoweverItIsWritten) {
    const std::string burstable = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod";
    const std::string slice = burstable + kUidOfSystemd + ".slice/";
    const std::vector<Case> cases = {
        {"containerd, systemd", "0::" + slice + "cri-containerd-" + kId + ".scope\n", "containerd", kUid},
        {"cri-o", "0::" + slice + "crio-" + kId + ".scope\n", "cri-o", kUid},
        {"cri-o with its own group", "0::" + slice + "crio-" + kId + ".scope/container\n", "cri-o", kUid},
        {"docker", "0::" + slice + "docker-" + kId + ".scope\n", "docker", kUid},
        {"guaranteed", "0::/kubepods.slice/kubepods-pod" + kUidOfSystemd + ".slice/crio-" + kId + ".scope",
         "cri-o", kUid},
        {"cgroupfs", "0::/kubepods/burstable/pod" + kUid + "/" + kId + "\n", "containerd", kUid},
        {"v1", "3:cpu:/kubepods/pod" + kUid + "/" + kId + "\n", "containerd", kUid},
        {"a static pod", "0::/kubepods/besteffort/pod" + kStaticUid + "/" + kId, "containerd", kStaticUid},
        {"containerd told systemd's names without systemd",
         "0::/system.slice/containerd.service/kubepods-burstable-pod" + kUidOfSystemd +
             ".slice:cri-containerd:" + kId,
         "containerd", kUid},
        {"a node that is a container",
         "0::/docker/" + kOuter + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" +
             kUidOfSystemd + ".slice/cri-containerd-" + kId + ".scope",
         "containerd", kUid},
        {"docker in a pod", "0::/kubepods/pod" + kUid + "/" + kOuter + "/docker/" + kId, "docker", kUid},
        {"a pod whose uid is none", "0::/kubepods/podinfo/" + kId, "containerd"},
        {"a pod whose uid is long", "0::/kubepods/pod" + kUid + "0/" + kId, "containerd"},
        {"a pod of somebody else", "0::/pod" + kUid + "/docker/" + kId, "docker"},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(container_of(c.cgroup), (census::Container{c.runtime, kId, c.pod})) << c.fact;
    }
}

TEST(Container, IsAbsentForProcessesOfTheHostAndForNamesThatOnlyLookLikeOne) {
    const std::vector<std::string> texts = {
        "",
        "\n\n",
        ":",
        "::",
        "0::",
        "0::/\n",
        "0::/init.scope\n",
        "0::/user.slice/user-1000.slice/session-3.scope\n",
        "0::/system.slice/docker.service\n",
        "0::/system.slice/containerd.service\n",
        "0::/machine.slice/libpod-conmon-" + kId + ".scope\n",  // a helper of the runtime
        "0::/machine.slice/crio-conmon-" + kId + ".scope\n",
        "0::/docker/" + kId.substr(1) + "\n",
        "0::/docker/" + kId + "0\n",
        "0::/docker/" + std::string(64, 'A') + "\n",
        "0::/docker/" + std::string(64, '\x1b') + "\n",
        "0::/docker-" + std::string(1'000'000, 'a') + ".scope\n",
        "0::/docker-.scope\n",
        "docker-" + kId + ".scope",  // not a line of this file
        "0::/kubepods/pod" + kUid + "\n",
        std::string(1'000'000, '/'),
        std::string(100'000, ':') + std::string(100'000, '\n'),
        std::string("\0\0\0", 3),
    };
    for (const std::string& text : texts) {
        EXPECT_EQ(container_of(text), std::nullopt) << text.substr(0, 200);
    }
}

}  // namespace
}  // namespace ttmem::sources
