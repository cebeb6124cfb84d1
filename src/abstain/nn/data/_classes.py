"""Classes and super-classes of known data sets, by name."""

from __future__ import annotations

#: data set -> super-class -> classes; names as in the data sets.
SUPER_CLASSES: dict[str, dict[str, tuple[str, ...]]] = {
    "cifar10": {
        "animals": ("bird", "cat", "deer", "dog", "frog", "horse"),
        "vehicles": ("airplane", "automobile", "ship", "truck"),
    },
    "cifar100": {
        "aquatic_mammals": ("beaver", "dolphin", "otter", "seal", "whale"),
        "fish": ("aquarium_fish", "flatfish", "ray", "shark", "trout"),
        "flowers": ("orchid", "poppy", "rose", "sunflower", "tulip"),
        "food_containers": ("bottle", "bowl", "can", "cup", "plate"),
        "fruit_and_vegetables": ("apple", "mushroom", "orange", "pear", "sweet_pepper"),
        "household_electrical_devices": ("clock", "keyboard", "lamp", "telephone", "television"),
        "household_furniture": ("bed", "chair", "couch", "table", "wardrobe"),
        "insects": ("bee", "beetle", "butterfly", "caterpillar", "cockroach"),
        "large_carnivores": ("bear", "leopard", "lion", "tiger", "wolf"),
        "large_man-made_outdoor_things": ("bridge", "castle", "house", "road", "skyscraper"),
        "large_natural_outdoor_scenes": ("cloud", "forest", "mountain", "plain", "sea"),
        "large_omnivores_and_herbivores": ("camel", "cattle", "chimpanzee", "elephant", "kangaroo"),
        "medium_mammals": ("fox", "porcupine", "possum", "raccoon", "skunk"),
        "non-insect_invertebrates": ("crab", "lobster", "snail", "spider", "worm"),
        "people": ("baby", "boy", "girl", "man", "woman"),
        "reptiles": ("crocodile", "dinosaur", "lizard", "snake", "turtle"),
        "small_mammals": ("hamster", "mouse", "rabbit", "shrew", "squirrel"),
        "trees": ("maple_tree", "oak_tree", "palm_tree", "pine_tree", "willow_tree"),
        "vehicles_1": ("bicycle", "bus", "motorcycle", "pickup_truck", "train"),
        "vehicles_2": ("lawn_mower", "rocket", "streetcar", "tank", "tractor"),
    },
    "fashion_mnist": {
        "tops": ("T-shirt/top", "Pullover", "Coat", "Shirt"),
        "shoes": ("Sandal", "Sneaker", "Ankle boot"),
        "other": ("Trouser", "Dress", "Bag"),
    },
}

#: Names of classes that files without names have, in the order of their indices.
CLASS_NAMES: dict[str, tuple[str, ...]] = {
    "cifar10": ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    "cifar100": tuple(sorted(name for group in SUPER_CLASSES["cifar100"].values() for name in group)),
    "fashion_mnist": ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
                      "Ankle boot"),
}  # fmt: skip
